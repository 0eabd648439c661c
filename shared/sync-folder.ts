import { randomUUID } from 'node:crypto';
import { open, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from './make-folder.ts';

/** Makes the names in a folder durable (fsync). */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes a text durably, and completely or not at all. Makes the folder if there is none. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  makeFolder(folder);
  const fresh = join(folder, `.${randomUUID()}`);
  await writeFile(fresh, text, { mode: 0o600, flush: true });
  await rename(fresh, path);
  await syncFolder(folder);
}
