import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../make-folder.ts';
import { parseOwners, presentOwners } from '../../owner-record.ts';
import { type FileLock, tryLockFile } from '../../sqlite/lock-file.ts';
import { syncFolder, writeDurably } from '../../sync-folder.ts';
import { undefinedWhenAbsent } from '../../when-absent.ts';
import { checkedHash, isHash } from '../asset-hash.ts';
import type { AssetStore, StagedAsset } from '../asset-store.ts';
import { measureContent } from '../measure-content.ts';
import { folderNames } from './folder-names.ts';
import { refuseTemporaryFailures } from './temporary-failures.ts';

/** Longer than any upload takes. In files of earlier releases, the name does not say which process wrote an unfinished file. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;
const LOCK = '.lock';
/** Time to wait for other processes that open the same folder. */
const TURN_MS = 10_000;

/**
 * Stores assets as files of `folder`, which it creates: `<first two characters of the hash>/<hash>`. `incoming/` has uploads in progress,
 * `suspects/` an empty file for each suspected hash, and `names/` is described in folder-names.ts. A file gets its final name only when it
 * is complete and on disk. Several processes may share the folder. The name of an upload begins with the name of its process. The process
 * holds a lock of that name.
 */
export function openFolderAssetStore(folder: string): AssetStore {
  const incoming = join(folder, 'incoming');
  const suspects = join(folder, 'suspects');
  for (const made of [incoming, suspects]) makeFolder(made);
  const name = randomUUID();
  const lock = enter(folder, incoming, name);
  return {
    async stage(content, maxBytes) {
      if (lock === undefined) throw new Error(`${incoming} cannot be locked`);
      const path = join(incoming, `${name} ${randomUUID()}`);
      return refuseTemporaryFailures(stage(folder, path, content, maxBytes));
    },
    ...lookAtFolderAssets(folder),
    delete: (hash) => rm(pathOf(folder, hash), { force: true }),
    suspect: (hash) => refuseTemporaryFailures(suspect(join(suspects, checkedHash(hash)))),
    clear: (hash) => rm(join(suspects, checkedHash(hash)), { force: true }),
    suspects: (before) => suspectedBefore(suspects, before),
    owner: ownerFile(join(folder, OWNER_FILE)),
  };
}

/** Reads the assets of a folder, and changes nothing of it. */
export function lookAtFolderAssets(folder: string): Pick<AssetStore, 'open' | 'size' | 'names'> {
  return {
    async open(hash, range) {
      const file = await refuseTemporaryFailures(open(pathOf(folder, hash), 'r').catch(undefinedWhenAbsent));
      if (file === undefined) return undefined;
      try {
        const { size } = await file.stat();
        // The stream closes the file when it ends or is destroyed.
        return { size, content: file.createReadStream(range === undefined ? {} : { ...range }) };
      } catch (error) {
        await file.close();
        throw error;
      }
    },
    size: async (hash) => (await stat(pathOf(folder, hash)).catch(undefinedWhenAbsent))?.size,
    names: folderNames(join(folder, 'names')),
  };
}

const OWNER_FILE = 'owner.json';

/** Stores the owner record as a file. A copy of the folder has another inode, so the record does not apply to it. */
function ownerFile(path: string): AssetStore['owner'] {
  const inode = async () => String((await stat(dirname(path), { bigint: true })).ino);
  return {
    async read() {
      const text = await refuseTemporaryFailures(readFile(path, 'utf8').catch(undefinedWhenAbsent));
      if (text === undefined) return {};
      const { owners, inode: noted } = parseOwners(text, path);
      return noted === (await inode()) ? owners : {};
    },
    async write(owners) {
      await refuseTemporaryFailures(writeDurably(path, presentOwners(owners, await inode())));
    },
  };
}

async function stage(
  folder: string,
  path: string,
  content: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<StagedAsset> {
  const { chunks, measured } = measureContent(content, maxBytes);
  try {
    await writeFile(path, chunks, { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  const { hash, size } = measured();
  return {
    hash,
    size,
    keep: () => refuseTemporaryFailures(keep(path, pathOf(folder, hash))),
    discard: () => rm(path, { force: true }),
  };
}

/** Gives a file its final name. The name is durable when the folder is synced. */
async function keep(from: string, to: string): Promise<void> {
  const folder = dirname(to);
  makeFolder(folder);
  await rename(from, to);
  await syncFolder(folder);
  await syncFolder(dirname(folder));
}

/** Creates the record of a suspected hash. The file's time is that of the last call. */
async function suspect(path: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    const now = new Date();
    // Uses the handle, because another upload of the same content may have removed the name.
    await file.utimes(now, now);
  } finally {
    await file.close();
  }
  await syncFolder(dirname(path));
}

async function* suspectedBefore(folder: string, before: number): AsyncGenerator<string> {
  for (const name of (await readdir(folder)).filter(isHash)) {
    const { mtimeMs } = (await stat(join(folder, name)).catch(undefinedWhenAbsent)) ?? {};
    if (mtimeMs !== undefined && mtimeMs < before) yield name;
  }
}

function pathOf(folder: string, hash: string): string {
  return join(folder, checkedHash(hash).slice(0, 2), hash);
}

/**
 * Removes unfinished uploads of processes that have ended, and locks the name of this process for its life. One process at a time does both:
 * otherwise another process takes a lock file that is not locked yet for that of a process that has ended.
 */
function enter(folder: string, incoming: string, name: string): FileLock | undefined {
  const turn = tryLockFile(join(folder, `opening${LOCK}`), TURN_MS);
  // A process that waits for so long only omits the removal.
  if (turn !== undefined) removeAbandoned(incoming);
  const lock = tryLockFile(join(incoming, name + LOCK));
  turn?.release();
  return lock;
}

/** Removes unfinished uploads of processes that have ended. */
function removeAbandoned(incoming: string): void {
  const names = readdirSync(incoming);
  const gone = new Set(
    names
      .filter((name) => name.endsWith(LOCK) && isGone(join(incoming, name)))
      .map((name) => name.slice(0, -LOCK.length)),
  );
  const limit = Date.now() - ABANDONED_MS;
  for (const name of names) {
    const path = join(incoming, name);
    const [owner = ''] = name.split(/[ .]/);
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
    const isOld = !name.includes(LOCK) && mtimeMs !== undefined && mtimeMs < limit;
    if (gone.has(owner) || isOld) rmSync(path, { force: true });
  }
}

/** Returns whether the process of a lock file has ended. The operating system then releases its lock. */
function isGone(lockFile: string): boolean {
  const lock = tryLockFile(lockFile);
  lock?.release();
  return lock !== undefined;
}
