const MAX_LENGTH = 255;

/**
 * Returns a client's name for a file in a form that can be shown: its last path segment in NFC, without control characters and of 255
 * characters at most. It never becomes a path.
 */
export function cleanFileName(name: string): string {
  const last = name.normalize('NFC').split(/[\\/]/).at(-1) ?? '';
  const clean = [...last.replaceAll(/\p{Cc}/gu, '').trim()].slice(0, MAX_LENGTH).join('');
  return clean === '' || clean === '.' || clean === '..' ? 'file' : clean;
}
