import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

const OWNER_ONLY = 0o600;

/**
 * Makes a file that only its owner may read, whatever the umask: an empty one when it is not there, an existing one by its mode. A
 * file that belongs to somebody else stays as it is.
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
 * Takes a file's access from everyone but its owner; harmless where there is none. By its path: the process would lose its SQLite locks
 * on a file that it opens and closes beside SQLite.
 */
export function restrictToOwner(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || (mode & 0o777) === OWNER_ONLY) return;
  try {
    chmodSync(path, OWNER_ONLY);
  } catch (error) {
    if (!['EPERM', 'EROFS', 'ENOENT'].includes(codeOf(error) ?? '')) throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
