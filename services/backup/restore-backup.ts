import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { differingGroups } from '../../projections/generations/digest.ts';
import { graphFile } from '../../projections/graph/store/generation-files.ts';
import { replayGraph } from '../../projections/verification/replay-graph.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { makeFolder } from '../../shared/make-folder.ts';
import { removeDatabase } from '../../shared/sqlite/copy-database.ts';
import { beginLog } from '../fleet/log-identity.ts';
import { CannotWrite, copyFile } from './copy-file.ts';
import { type Manifest, type NewManifest, readManifest } from './manifest.ts';
import { moveFile } from './move-file.ts';
import { syncFolders, syncNames } from './sync-folders.ts';
import { readGraph, readLog } from './write-backup.ts';

export type RestoreTarget = {
  /** Locked by this process, and empty except for the lock. */
  readonly data: string;
  readonly logFile: string;
  /** Folder for uploaded files; absent if they are elsewhere. */
  readonly assetsFolder: string | undefined;
  readonly openLog: (file: string) => Promise<EventStore>;
  readonly onEvents: (count: number) => void;
  /** Erases what was erased after the backup. Resolves with false if that changed nothing. `graph`: file of the graph at the log's end. */
  readonly erase: (log: EventStore, graph: string) => Promise<boolean>;
};

export type Restored = {
  readonly manifest: Manifest;
  /** Result of comparing the replayed graph with the one in the backup. */
  readonly graph: 'same' | 'not compared';
};

const PART = 'restore.part';
/** Files that an interrupted restore or a lock leaves behind. */
const PASSED_OVER = [
  ...[PART, 'lock.json', 'lock.db', 'lock.db-journal'],
  ...['lock-contents.db', 'lock-contents.db-journal'],
];
/** Names next to `PART` that only a restore can have left: it begins in an empty folder. */
const MOVED = ['access.key', 'assets', 'graph.db'];
const ASSETS = 'assets/';

/**
 * Makes a data directory from a backup. It copies the files, checks every digest, and checks the log's count and end. Then it replays the
 * log and compares the graph with the manifest. The log gets its name last: before that there is no data directory, and the same restore
 * can be repeated. Throws a message at the first error.
 */
export async function restoreBackup(folder: string, target: RestoreTarget): Promise<Restored> {
  const manifest = readManifest(folder);
  refuseNonEmpty(target);
  const part = join(target.data, PART);
  // A restore that was killed leaves this folder. If the folder exists, the files next to it are from that restore.
  makeFolder(part);
  for (const name of readdirSync(part)) rmSync(join(part, name), { recursive: true, force: true });
  await copyChecked(folder, part, manifest);
  const graph = await replayChecked(part, manifest, target);
  await moveAssets(part, manifest, target);
  if (manifest.files['access.key'] !== undefined)
    await moveFile(join(part, 'access.key'), join(dirname(target.logFile), 'access.key'));
  await moveFile(join(part, 'graph.db'), graphFile(target.data, 1));
  const folders = [target.data, dirname(target.logFile)];
  // A power loss must not leave a log without the other files.
  for (const each of folders) await syncNames(each);
  await moveFile(join(part, 'events.db'), target.logFile);
  for (const each of folders) await syncNames(each);
  rmSync(part, { recursive: true, force: true });
  return { manifest, graph };
}

function refuseNonEmpty({ data, logFile }: RestoreTarget): void {
  const names = readdirSync(data);
  const ours = names.includes(PART) ? [...PASSED_OVER, ...MOVED] : PASSED_OVER;
  const found = names.filter((name) => !ours.includes(name));
  if (found.length > 0)
    throw new Error(`${data} is not empty (${found[0]}): a backup is restored to a new data directory`);
  if (existsSync(logFile)) throw new Error(`a log exists already: ${logFile}`);
}

async function copyChecked(folder: string, part: string, { files, log, assets }: Manifest): Promise<void> {
  if (files['events.db'] === undefined) throw new Error('the manifest names no events.db');
  for (const [path, expected] of Object.entries(files)) {
    if (path.split('/').includes('..'))
      throw new Error(`the manifest names ${path}, which is not in the backup`);
    const found = await copyFile(join(folder, path), join(part, path)).catch((error: Error) => {
      if (error instanceof CannotWrite) throw error;
      throw new Error(`the backup is damaged: ${path} cannot be read (${error.message})`);
    });
    if (found.sha256 === expected.sha256 && found.bytes === expected.bytes) continue;
    throw new Error(`the backup is damaged: ${path} was changed (SHA-256 ${found.sha256})`);
  }
  const found = readLog(join(part, 'events.db'));
  if (found.events !== log.events || found.position !== log.position) {
    throw new Error(
      `the backup is damaged: its log has ${found.events} events up to ${found.position}, not ${log.events} up to ${log.position}`,
    );
  }
  const copied = Object.keys(files).filter((path) => path.startsWith(ASSETS)).length;
  if (assets.kind === 'copied' && copied !== assets.files) {
    throw new Error(`the backup is damaged: ${copied} uploaded files are in it, not ${assets.files}`);
  }
}

async function replayChecked(part: string, manifest: Manifest, target: RestoreTarget) {
  const { graph, log } = manifest;
  const file = join(part, 'graph.db');
  const store = await target.openLog(join(part, 'events.db'));
  const { onEvents } = target;
  try {
    if (graph !== null) await replayGraph({ log: store, file, upTo: BigInt(graph.position), onEvents });
    // Before format 3 the digests included numbers that another replay of the same log may assign differently.
    const expected = manifest.format === 3 ? manifest.graph : null;
    const compared = expected === null ? 'not compared' : compareWith(file, expected);
    await replayGraph({ log: store, file, upTo: BigInt(log.position), onEvents });
    // The original may still be in use: the copy is another log from now on.
    await beginLog(store, manifest.space);
    if (await target.erase(store, file)) {
      // The free pages of the graph have what was erased.
      removeDatabase(file);
      await replayGraph({ log: store, file, upTo: await store.lastPosition(), onEvents });
    }
    return compared;
  } finally {
    await store.close();
  }
}

/** Throws if the graph differs from the manifest. */
function compareWith(file: string, expected: NonNullable<NewManifest['graph']>): Restored['graph'] {
  const found = readGraph(file);
  if (found?.projector !== expected.projector || found.schema !== expected.schema) return 'not compared';
  const digestOf = ({ groups }: typeof expected) => new Map(Object.entries(groups));
  const differing = differingGroups(digestOf(expected), digestOf(found));
  if (differing.length === 0) return 'same';
  throw new Error(
    `a replay of the log gives another content graph than the one in the backup (${differing.join(', ')}): run varve verify on the original data directory to see the differences`,
  );
}

async function moveAssets(
  part: string,
  { files }: Manifest,
  { assetsFolder, data }: RestoreTarget,
): Promise<void> {
  const to = assetsFolder ?? join(data, 'assets');
  for (const path of Object.keys(files))
    if (path.startsWith(ASSETS)) await moveFile(join(part, path), join(to, path.slice(ASSETS.length)));
  if (existsSync(to)) await syncFolders(to);
}
