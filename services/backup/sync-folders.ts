import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { syncFolder } from '../../shared/sync-folder.ts';

/** Makes the names in a folder and in all folders below it durable, and the name of the folder itself. */
export async function syncFolders(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const below = entries.filter((entry) => entry.isDirectory());
  for (const { parentPath, name } of below) await syncNames(join(parentPath, name));
  await syncNames(folder);
  await syncNames(dirname(resolve(folder)));
}

/** Some file systems do not flush folders, and a folder that only others may list cannot be opened. */
const CANNOT_SYNC = ['EINVAL', 'ENOTSUP', 'EACCES', 'EPERM', 'EISDIR'];

/** Makes the names in one folder durable, where its file system can. */
export async function syncNames(folder: string): Promise<void> {
  await syncFolder(folder).catch((error: NodeJS.ErrnoException) => {
    if (!CANNOT_SYNC.includes(error.code ?? '')) throw error;
  });
}
