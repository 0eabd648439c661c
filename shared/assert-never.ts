/** Throws. Use it in the default branch of a switch over a union: a missing case then does not compile. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value ${JSON.stringify(value)}`);
}
