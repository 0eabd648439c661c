/**
 * Returns the first number below `count` that matches, or `count` if none does. It uses binary search, so all numbers after a match must
 * match.
 */
export function firstWhere(count: number, isMatch: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isMatch(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
