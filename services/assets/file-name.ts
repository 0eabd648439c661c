const MAX_LENGTH = 255;

/**
 * Returns a client's name for a file in a form that can be shown. The form is the last path segment in NFC, without control characters, cut
 * to 255 characters. It never becomes a path.
 */
export function cleanFileName(name: string): string {
  const last = name.normalize('NFC').split(/[\\/]/).at(-1) ?? '';
  const shown = last.replaceAll(/\p{Cc}/gu, '').trim();
  // Cuts to the length that the attribute accepts, without half a surrogate pair at the end.
  const clean = shown.slice(0, MAX_LENGTH).replace(/[\ud800-\udbff]$/, '');
  return clean === '' || clean === '.' || clean === '..' ? 'file' : clean;
}
