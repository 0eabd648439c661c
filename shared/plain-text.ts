/**
 * `String` of a value from JSON or a query string. Parsed objects may have no `toString`, and a member with that name
 * is an ordinary member.
 */
export function plainText(value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => (item === null ? '' : plainText(item))).join(',');
  return typeof value === 'object' && value !== null ? '[object Object]' : String(value);
}
