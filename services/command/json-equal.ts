/** Returns whether two JSON values are equal, whatever the order of keys and the prototypes of objects. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
    return Object.is(left, right);
  }
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const members = Object.entries(left);
  return (
    members.length === Object.keys(right).length &&
    members.every(
      ([key, value]) => Object.hasOwn(right, key) && jsonEqual(value, (right as typeof left)[key as never]),
    )
  );
}
