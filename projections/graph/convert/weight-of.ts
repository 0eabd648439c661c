/** Returns a number that is greater if more of a value is shown: 0 for nothing. */
export function weightOf(value: unknown): number {
  if (value === null || value === undefined) return 0;
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + weightOf(each), 0);
  if (typeof value !== 'object' || !('id' in value)) return 1;
  return 1 + Object.values(value).reduce((sum: number, each) => sum + weightOf(each), 0);
}
