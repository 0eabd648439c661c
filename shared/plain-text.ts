/**
 * `String` of what was parsed from JSON or a query string: parsed objects may have no `toString`, and a member that is called so is
 * a member like any other.
 */
export function plainText(value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => (item === null ? '' : plainText(item))).join(',');
  return typeof value === 'object' && value !== null ? '[object Object]' : String(value);
}
