import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and its missing parents. `mode`: by default only the owner may use them. Throws the error of the system. Node's own option
 * `recursive` never ends if the system answers ENOENT below an existing folder, as in /proc.
 */
export function makeFolder(path: string, mode = 0o700): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (isFolder(path)) return;
    const above = dirname(path);
    const isAboveMissing = above !== path && !existsSync(above);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !isAboveMissing) throw error;
    makeFolder(above, mode);
    makeFolder(path, mode);
  }
}

/** Returns false also for a path that this process may not look at. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
