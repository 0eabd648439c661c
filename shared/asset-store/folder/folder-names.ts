import { hash as digest, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { checkedHash } from '../asset-hash.ts';
import type { AssetNames, NamedContent } from '../asset-store.ts';
import { syncFolder } from './sync-folder.ts';
import { refuseTemporaryFailures } from './temporary-failures.ts';

/**
 * Stores names as files. `<SHA-256 of the name>` says which content has the name. `of/<hash>/<SHA-256 of the name>` is
 * an empty file that marks content as named. It is written first and removed last, so named content never looks
 * unnamed.
 */
export function folderNames(folder: string): AssetNames {
  const pathOf = (name: string) => join(folder, digest('sha256', name));
  const marksOf = (hash: string) => join(folder, 'of', checkedHash(hash));
  const markOf = (hash: string, name: string) => join(marksOf(hash), digest('sha256', name));
  const find = async (name: string): Promise<NamedContent | undefined> => {
    const text = await refuseTemporaryFailures(readFile(pathOf(name), 'utf8').catch(undefinedWhenAbsent));
    if (text === undefined) return undefined;
    const { hash, mime } = JSON.parse(text) as NamedContent;
    return { hash, mime };
  };
  return {
    find,
    async give(name, content) {
      const before = await find(name);
      await refuseTemporaryFailures(writeDurably(markOf(content.hash, name), ''));
      const { hash, mime } = content;
      await refuseTemporaryFailures(writeDurably(pathOf(name), JSON.stringify({ name, hash, mime })));
      if (before !== undefined && before.hash !== hash) await rm(markOf(before.hash, name), { force: true });
    },
    async take(name) {
      const before = await find(name);
      if (before === undefined) return;
      await rm(pathOf(name), { force: true });
      await rm(markOf(before.hash, name), { force: true });
    },
    async isNamed(hash) {
      const marks = await readdir(marksOf(hash)).catch(undefinedWhenAbsent);
      return marks !== undefined && marks.length > 0;
    },
  };
}

async function writeDurably(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const fresh = join(folder, `.${randomUUID()}`);
  await writeFile(fresh, text, { mode: 0o600, flush: true });
  await rename(fresh, path);
  await syncFolder(folder);
}

function undefinedWhenAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
