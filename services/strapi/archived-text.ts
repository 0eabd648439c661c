/** Returns a text of an archive; the empty text for any other value, because `String` fails for some objects. */
export function archivedText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
