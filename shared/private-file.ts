import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

const OWNER_ONLY = 0o600;

/**
 * Makes a file readable only for its owner, whatever the umask. Creates an empty file, or sets the mode of an existing one. A file of
 * another owner stays unchanged.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  restrictToOwner(path);
}

/**
 * Removes access to a file for everyone but its owner. Does nothing if there is no file. It uses the path and opens nothing. If the process
 * opened and closed a file that SQLite has open, it would lose its SQLite locks.
 */
export function restrictToOwner(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  // A wrong setting may name a folder, or a device such as /dev/null, which other programs need as it is.
  if (found === undefined || !found.isFile() || (found.mode & 0o777) === OWNER_ONLY) return;
  try {
    chmodSync(path, OWNER_ONLY);
  } catch (error) {
    if (!['EPERM', 'EROFS', 'ENOENT'].includes(codeOf(error) ?? '')) throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
