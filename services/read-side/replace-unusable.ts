import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Generation } from '../../projections/generations/generation.ts';
import { openGenerationStore } from '../../projections/generations/generation-store.ts';
import {
  type AppliedPosition,
  checkHistory,
  type HistoryCheck,
} from '../../projections/graph/store/check-history.ts';
import {
  checkFile,
  damageMark,
  generationsOfFiles,
  graphFile,
  removeGeneration,
} from '../../projections/graph/store/generation-files.ts';
import {
  readGraphPosition,
  readSearched,
  readSearchedName,
  type SearchedName,
} from '../../projections/graph/store/graph-position.ts';
import { readAppliedEvent, readSamples } from '../../projections/graph/store/log-checkpoint.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { removeDatabase } from '../../shared/sqlite/copy-database.ts';
import { isDamaged, isDamagedAtOpen, isDiskFullAtOpen } from '../../shared/sqlite/failures.ts';
import { connectDatabase } from '../../shared/sqlite/open-database.ts';
import { openReadSnapshot } from '../../shared/sqlite/read-snapshot.ts';
import { setAside } from '../../shared/sqlite/replace-damaged.ts';
import { nameDeliveriesAfter } from './lost-deliveries.ts';

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
 * ends before the position of the live graph and has nothing in common with it. This process must have locked the data directory. Returns
 * how the history of the live graph compares with the log's.
 */
export async function replaceUnusable(directory: DataDirectory): Promise<HistoryCheck['kind']> {
  const { data } = directory;
  if (!existsSync(join(data, 'generations.db')))
    return replaceGraph(directory, { file: graphFile(data, 1), isLive: true });
  let history: HistoryCheck['kind'] = 'same';
  // Looks for files before it reads the record: a rebuild that begins now records its generation before it creates files.
  const found = generationsOfFiles(data);
  const recorded = readGenerations(directory);
  for (const number of found)
    if (!recorded.some((each) => each.number === number)) removeGeneration(data, number);
  for (const { number, state } of recorded) {
    const isLive = state === 'live';
    const found = await replaceGraph(directory, { file: graphFile(data, number), isLive });
    if (isLive) history = found;
    await replaceGraph(directory, { file: checkFile(data, number), isLive: false });
  }
  return history;
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
): Promise<HistoryCheck['kind']> {
  const applied = readAppliedPosition(file, isLive ? undefined : data);
  if (applied === 'none') return 'same';
  if (applied === 'damaged') {
    setAside(file);
    report(file, DAMAGED);
    return 'same';
  }
  const history = await checkHistory(log, applied);
  if (history.kind === 'same') await forgetSearched(log, file, applied);
  if (history.kind === 'same') return 'same';
  if (history.kind === 'shorter' && isLive) throw new Error(shorterLog(data, applied.position, history.end));
  if (history.kind === 'restored' && isLive) removeDeliveries({ data, report }, history.common);
  removeDatabase(file);
  report(file, history.kind === 'restored' ? restoredLog(applied.position, history) : OTHER_HISTORY);
  return history.kind;
}

/**
 * Removes the record of deliveries and purges that were made from lost events, and names these deliveries. The next start purges all
 * answers, and makes deliveries again from the progress that the log has. `common`: position up to which graph and log agree.
 */
function removeDeliveries({ data, report }: Omit<DataDirectory, 'log'>, common: bigint): void {
  const file = join(data, 'webhooks.db');
  const lost = nameDeliveriesAfter(file, common);
  if (lost !== undefined) report(file, lost);
  for (const each of [file, join(data, 'purges.db')]) removeDatabase(each);
}

/**
 * Forgets how far the log was searched, but for the part whose history the log has still: a copy may have been restored that has all applied
 * events, and lacks records of others. Events of this namespace may have taken their place.
 */
async function forgetSearched(
  log: EventStore,
  file: string,
  { position, searched, named }: GraphInFile,
): Promise<void> {
  // With a hash chain the position is enough to continue.
  if (searched <= position || log.chain !== undefined) return;
  const isKnown = named !== undefined && named.position > position;
  const isSame = isKnown && (await log.historyAt(named.position)) === named.history;
  const db = connectDatabase(file, { durability: 'normal' });
  if (isSame) db.prepare("UPDATE meta SET value = ? WHERE name = 'read_from'").run(`${named.position}`);
  else db.exec("DELETE FROM meta WHERE name = 'read_from'");
  db.close();
}

function restoredLog(
  position: bigint,
  { end, common }: Extract<HistoryCheck, { readonly kind: 'restored' }>,
): string {
  return `an older copy of the event log was restored: the graph has applied another history up to position ${position}, the log ends at position ${end}, and both agree up to position ${common}. Varve makes the graph again from the log, without what was written after the copy. Put the newer log back if you need that`;
}

function shorterLog(data: string, position: bigint, end: bigint): string {
  if (end === 0n)
    return `the log has no events of this namespace, and ${data} has applied it up to position ${position}: pass the --space and --event-store of the server that used ${data}. If they are right, events are missing: put the log back, or restore a backup to a new data directory`;
  return `the log ends at position ${end}, and ${data} has applied it up to position ${position}: events are missing. Put the newer log back. To continue with this older log, remove graph*.db* and generations.db* from ${data}; Varve rebuilds them from the log`;
}

/** Position of a graph, and up to which it has searched the log. */
type GraphInFile = AppliedPosition & {
  readonly searched: bigint;
  readonly named: SearchedName | undefined;
};

/**
 * Returns the position that a graph has applied. `none`: there is no file, or nothing was applied to it. Also `none` for a graph that no
 * start needs, if the disk of its folder `unneeded` is too full to open it.
 */
function readAppliedPosition(file: string, unneeded?: string): GraphInFile | 'none' | 'damaged' {
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
      const samples = tables.has('applied_events') ? readSamples(connection) : [];
      return {
        position,
        last,
        samples,
        searched: readSearched(connection),
        named: readSearchedName(connection),
      };
    } finally {
      close();
    }
  } catch (error) {
    if (isDamaged(error) || isDamagedAtOpen(error)) return 'damaged';
    if (unneeded !== undefined && isDiskFullAtOpen(error, unneeded)) return 'none';
    throw error;
  }
}
