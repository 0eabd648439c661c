import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from '../../sync-folder.ts';
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
