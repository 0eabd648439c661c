/** So few rows are deleted whatever their share is. */
const FEW = 10;

/** Returns whether so many of the stored rows are gone at once that the source, rather than an editor, has lost them. */
export function isMassDeletion(gone: number, stored: number, share: number): boolean {
  return gone > FEW && gone > stored * share;
}
