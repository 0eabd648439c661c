import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and its missing parents. `mode`: by default only the owner may use them. Throws the error of the system. Node's own option
 * `recursive` never ends if the system answers ENOENT below an existing folder, as in /proc.
 */
export function makeFolder(path: string, mode = 0o700): void {
  const failure = makeOne(path, mode);
  if (failure === undefined) return;
  const above = dirname(path);
  if (failure.code !== 'ENOENT' || above === path) throw failure;
  // Another process may have made the folder above meanwhile.
  if (!existsSync(above)) makeFolder(above, mode);
  const again = makeOne(path, mode);
  if (again !== undefined) throw again;
}

/** Makes a folder unless it exists. Returns why it cannot. */
function makeOne(path: string, mode: number): NodeJS.ErrnoException | undefined {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!isFolder(path)) return error as NodeJS.ErrnoException;
  }
  return undefined;
}

/** Returns false also for a path that this process may not look at. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
