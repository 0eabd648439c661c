import { rmSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the folder of everything that pasts need: snapshots, and a folder for each process. */
export function folderOfPasts(data: string): string {
  return join(data, 'past');
}

/** Removes everything that pasts have left, when no past is open: content was erased. */
export function forgetPasts(data: string): void {
  rmSync(folderOfPasts(data), { recursive: true, force: true });
}
