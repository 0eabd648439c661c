import { readdirSync } from 'node:fs';

/** Returns the names of a folder's files and folders; none if there is no such folder. */
export function namesInFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
