import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder, and those above it that are missing; `mode`: by default only the owner may use them. Throws the error of the system.
 * Node's own option `recursive` never ends where the system answers ENOENT below an existing folder, as in /proc.
 */
export function makeFolder(path: string, mode = 0o700): void {
  const folder = resolve(path);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (isFolder(folder)) return;
    const above = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(above)) throw error;
    makeFolder(above, mode);
    makeFolder(folder, mode);
  }
}

/** False also for a path that may not be looked at: it has no folder for this process. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
