/** Returns whether `If-None-Match`, a list of entity tags or `*`, contains a tag. Compares weakly, as RFC 9110 says. */
export function isSameEntity(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  if (header === tag) return true;
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag);
}
