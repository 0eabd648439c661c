/** Splits a list with commas: the parts without blanks around them, and without empty ones. */
export function commaList(text: string): string[] {
  return text.split(',').flatMap((part) => part.trim() || []);
}
