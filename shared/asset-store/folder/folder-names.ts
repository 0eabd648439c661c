import { randomUUID } from 'node:crypto';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../make-folder.ts';
import { syncFolder } from '../../sync-folder.ts';
import { undefinedWhenAbsent } from '../../when-absent.ts';
import { createAssetNames } from '../asset-names.ts';
import type { AssetNames } from '../asset-store.ts';
import { refuseTemporaryFailures } from './temporary-failures.ts';

/** Stores names as files in a folder. */
export function folderNames(folder: string): AssetNames {
  return createAssetNames({
    read: (path) => refuseTemporaryFailures(readFile(join(folder, path), 'utf8').catch(undefinedWhenAbsent)),
    write: (path, text) => refuseTemporaryFailures(writeDurably(join(folder, path), text)),
    remove: (path) => rm(join(folder, path), { force: true }),
    hasAny: async (path) => ((await readdir(join(folder, path)).catch(undefinedWhenAbsent)) ?? []).length > 0,
  });
}

async function writeDurably(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  makeFolder(folder);
  const fresh = join(folder, `.${randomUUID()}`);
  await writeFile(fresh, text, { mode: 0o600, flush: true });
  await rename(fresh, path);
  await syncFolder(folder);
}
