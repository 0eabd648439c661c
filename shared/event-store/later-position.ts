/** Returns the later of two positions. */
export function laterPosition(one: bigint, other: bigint): bigint {
  return one < other ? other : one;
}
