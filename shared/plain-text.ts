/** Returns `String` of a value from JSON or a query string. Parsed objects may have no `toString`, or an ordinary member with that name. */
export function plainText(value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => (item === null ? '' : plainText(item))).join(',');
  return typeof value === 'object' && value !== null ? '[object Object]' : String(value);
}
