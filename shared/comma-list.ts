/** Splits a list at commas. Removes blanks around the parts, and omits empty parts. */
export function commaList(text: string): string[] {
  return text.split(',').flatMap((part) => part.trim() || []);
}
