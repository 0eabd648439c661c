import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { graphFile } from '../../projections/generations/generation-files.ts';
import { PROJECTOR_VERSION } from '../../projections/projector-version.ts';
import { digestGraph } from '../../projections/verification/digest-graph.ts';
import { replayGraph } from '../../projections/verification/replay-graph.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { openReadSnapshot } from '../../shared/sqlite/read-snapshot.ts';
import { copyFile } from './copy-file.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { readLog, readSchemaVersion } from './write-backup.ts';

export type RestoreTarget = {
  /** Held by this process, and empty but for the lock. */
  readonly data: string;
  readonly logFile: string;
  /** Absent: uploaded files are elsewhere. */
  readonly assetsFolder: string | undefined;
  readonly openLog: (file: string) => Promise<EventStore>;
  readonly onEvents: (count: number) => void;
};

export type Restored = {
  readonly manifest: Manifest;
  /** Whether the replayed graph was compared with the one that was backed up. */
  readonly graph: 'same' | 'not compared';
};

/** What a restore that was cut short leaves, and what a lock leaves. */
const PASSED_OVER = ['restore.part', 'lock.db', 'lock.db-journal', 'lock.json'];

/**
 * Makes a data directory of a backup: copies it, checks every file's digest and the log's count and end, replays the log and
 * compares the graph with what the manifest says of it. The log gets its name last: before that there is no data directory. Throws a
 * sentence at the first thing that is wrong.
 */
export async function restoreBackup(folder: string, target: RestoreTarget): Promise<Restored> {
  const manifest = readManifest(folder);
  refuseNonEmpty(target);
  const part = join(target.data, 'restore.part');
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true, mode: 0o700 });
  await copyChecked(folder, part, manifest);
  const graph = await replayChecked(part, manifest, target);
  const keyFile = join(part, 'access.key');
  if (existsSync(keyFile)) renameSync(keyFile, join(dirname(target.logFile), 'access.key'));
  if (existsSync(join(part, 'assets'))) moveAssets(join(part, 'assets'), target);
  renameSync(join(part, 'graph.db'), graphFile(target.data, 1));
  renameSync(join(part, 'events.db'), target.logFile);
  rmSync(part, { recursive: true, force: true });
  return { manifest, graph };
}

function refuseNonEmpty({ data, logFile }: RestoreTarget): void {
  const found = readdirSync(data).filter((name) => !PASSED_OVER.includes(name));
  if (found.length > 0)
    throw new Error(`${data} is not empty (${found[0]}): a backup is restored to a new data directory`);
  if (existsSync(logFile)) throw new Error(`there is a log already: ${logFile}`);
}

async function copyChecked(folder: string, part: string, { files, log, assets }: Manifest): Promise<void> {
  if (files['events.db'] === undefined) throw new Error('the manifest names no events.db');
  for (const [path, expected] of Object.entries(files)) {
    if (path.split('/').includes('..'))
      throw new Error(`the manifest names ${path}, which is not in the backup`);
    const found = await copyFile(join(folder, path), join(part, path)).catch((error: Error) => {
      throw new Error(`the backup is damaged: ${path} cannot be read (${error.message})`);
    });
    if (found.sha256 === expected.sha256 && found.bytes === expected.bytes) continue;
    throw new Error(`the backup is damaged: ${path} is not as it was written (SHA-256 ${found.sha256})`);
  }
  const found = readLog(join(part, 'events.db'));
  if (found.events !== log.events || found.position !== log.position) {
    throw new Error(
      `the backup is damaged: its log has ${found.events} events up to ${found.position}, not ${log.events} up to ${log.position}`,
    );
  }
  const copied = Object.keys(files).filter((path) => path.startsWith('assets/')).length;
  if (assets.kind === 'copied' && copied !== assets.files) {
    throw new Error(`the backup is damaged: ${copied} uploaded files are in it, not ${assets.files}`);
  }
}

async function replayChecked(part: string, { format, graph, log }: Manifest, target: RestoreTarget) {
  const file = join(part, 'graph.db');
  const store = await target.openLog(join(part, 'events.db'));
  const { onEvents } = target;
  try {
    if (graph !== null) await replayGraph({ log: store, file, upTo: BigInt(graph.position), onEvents });
    const compared =
      graph === null ? 'not compared' : compareWith(file, graph, format === 1 ? ['commands'] : []);
    await replayGraph({ log: store, file, upTo: BigInt(log.position), onEvents });
    return compared;
  } finally {
    await store.close();
  }
}

/** Throws when the graph is another. */
function compareWith(
  file: string,
  expected: NonNullable<Manifest['graph']>,
  uncertain: readonly string[],
): Restored['graph'] {
  const { connection, close } = openReadSnapshot(file);
  const found = digestGraph(connection);
  const schema = readSchemaVersion(connection);
  close();
  if (expected.projector !== PROJECTOR_VERSION || expected.schema !== schema) return 'not compared';
  const differing = Object.keys(found).filter(
    (table) => !uncertain.includes(table) && expected.tables[table]?.sha256 !== found[table]?.sha256,
  );
  if (differing.length === 0) return 'same';
  throw new Error(
    `the log adds up to another content graph than the one that was backed up (${differing.join(', ')}): varve verify of the data directory it came from says what differs`,
  );
}

function moveAssets(from: string, { assetsFolder, data }: RestoreTarget): void {
  const to = assetsFolder ?? join(data, 'assets');
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(from)) renameSync(join(from, name), join(to, name));
}
