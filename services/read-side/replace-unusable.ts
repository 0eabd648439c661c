import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Generation } from '../../projections/generations/generation.ts';
import { openGenerationStore } from '../../projections/generations/generation-store.ts';
import { type AppliedPosition, checkHistory } from '../../projections/graph/store/check-history.ts';
import {
  checkFile,
  damageMark,
  generationsOfFiles,
  graphFile,
  removeGeneration,
} from '../../projections/graph/store/generation-files.ts';
import { readGraphPosition } from '../../projections/graph/store/graph-position.ts';
import { readAppliedEvent } from '../../projections/graph/store/log-checkpoint.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { removeDatabase } from '../../shared/sqlite/copy-database.ts';
import { isDamaged, isDamagedAtOpen } from '../../shared/sqlite/failures.ts';
import { openReadSnapshot } from '../../shared/sqlite/read-snapshot.ts';
import { setAside } from '../../shared/sqlite/replace-damaged.ts';

/** Called for a file of the read model that cannot be used and is rebuilt from the log. */
export type ReportReplaced = (file: string, reason: string) => void;

type DataDirectory = {
  readonly data: string;
  readonly log: EventStore;
  readonly report: ReportReplaced;
};

const DAMAGED = 'it is damaged';
const OTHER_HISTORY = 'the last event that it applied is not in this log: the log was replaced or restored';

/**
 * Removes unusable files of the read model: damaged ones, and graphs with another history than the log. They are rebuilt from the log when
 * they are opened. Renames a damaged file to `<name>.damaged`. Removes files of generations that have no record. Throws a message if the log
 * ends before the position of the live graph. This process must have locked the data directory.
 */
export async function replaceUnusable(directory: DataDirectory): Promise<void> {
  const { data } = directory;
  if (!existsSync(join(data, 'generations.db'))) {
    await replaceGraph(directory, { file: graphFile(data, 1), isLive: true });
    return;
  }
  // Looks for files before it reads the record: a rebuild that begins now records its generation before it creates files.
  const found = generationsOfFiles(data);
  const recorded = readGenerations(directory);
  for (const number of found)
    if (!recorded.some((each) => each.number === number)) removeGeneration(data, number);
  for (const { number, state } of recorded) {
    const isLive = state === 'live';
    await replaceGraph(directory, { file: graphFile(data, number), isLive });
    await replaceGraph(directory, { file: checkFile(data, number), isLive: false });
  }
}

/** Returns the recorded generations. Without the record, Varve does not know which graph is complete. */
function readGenerations({ data, report }: DataDirectory): readonly Generation[] {
  const file = join(data, 'generations.db');
  try {
    const store = openGenerationStore(data);
    try {
      store.live();
      return store.generations();
    } finally {
      store.close();
    }
  } catch (error) {
    if (!isDamagedAtOpen(error)) throw error;
    for (const name of readdirSync(data)) {
      if (/^graph(-\d+)?(-check)?\.db$/.test(name)) removeDatabase(join(data, name));
    }
    setAside(file);
    report(file, DAMAGED);
    return [];
  }
}

type CheckedGraph = { readonly file: string; readonly isLive: boolean };

async function replaceGraph(
  { data, log, report }: DataDirectory,
  { file, isLive }: CheckedGraph,
): Promise<void> {
  const applied = readAppliedPosition(file);
  if (applied === 'none') return;
  if (applied === 'damaged') {
    setAside(file);
    report(file, DAMAGED);
    return;
  }
  const history = await checkHistory(log, applied);
  if (history.kind === 'same') return;
  if (history.kind === 'shorter' && isLive) throw new Error(shorterLog(data, applied.position, history.end));
  removeDatabase(file);
  report(file, OTHER_HISTORY);
}

function shorterLog(data: string, position: bigint, end: bigint): string {
  if (end === 0n)
    return `the log has no events of this namespace, and ${data} has applied it up to position ${position}: pass the --space and --event-store of the server that used ${data}. If they are right, events are missing: put the log back, or restore a backup to a new data directory`;
  return `the log ends at position ${end}, and ${data} has applied it up to position ${position}: events are missing. Put the newer log back. To continue with this older log, remove graph*.db* and generations.db* from ${data}; Varve rebuilds them from the log`;
}

/** Returns the position that a graph has applied. `none`: there is no file, or nothing was applied to it. */
function readAppliedPosition(file: string): AppliedPosition | 'none' | 'damaged' {
  if (!existsSync(file)) return 'none';
  if (existsSync(damageMark(file))) return 'damaged';
  try {
    const { connection, close } = openReadSnapshot(file);
    try {
      const tables = new Set(
        connection
          .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
          .all()
          .map(({ name }) => String(name)),
      );
      if (tables.size === 0) return 'none';
      const position = readGraphPosition(connection);
      // Earlier releases have no such table.
      const last = tables.has('last_event') ? readAppliedEvent(connection) : undefined;
      for (const table of tables) connection.prepare(`SELECT * FROM ${table} LIMIT 1`).get();
      return { position, last };
    } finally {
      close();
    }
  } catch (error) {
    if (isDamaged(error) || isDamagedAtOpen(error)) return 'damaged';
    throw error;
  }
}
