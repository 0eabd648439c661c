/** Copies an array to the beginning of a longer one, and returns the longer one. */
export function grown<Numbers extends { set(from: Numbers): void }>(from: Numbers, into: Numbers): Numbers {
  into.set(from);
  return into;
}
