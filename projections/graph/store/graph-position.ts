import type { Database } from '../../../shared/sqlite/database.ts';

/** Position of the last event that is in a graph's file; 0n before the first. `file`: name of the file in a connection to several files. */
export function readGraphPosition(db: Database, file = 'main'): bigint {
  const row = db.prepare(`SELECT value FROM ${file}.meta WHERE name = 'position'`).get();
  return BigInt(Number(row?.['value'] ?? 0));
}

/** Name of a log's history up to a position that was searched. */
export type SearchedName = { readonly position: bigint; readonly history: string };

/** Reads the last searched position whose history a graph's file names; undefined if there is none. */
export function readSearchedName(db: Database): SearchedName | undefined {
  const row = db.prepare("SELECT value FROM meta WHERE name = 'searched_name'").get();
  const [position, history] = String(row?.['value'] ?? '').split(' ');
  return position === undefined || history === undefined
    ? undefined
    : { position: BigInt(position), history };
}

/** Reads the position up to which a graph's file says that the log was searched; 0n if it says nothing. */
export function readSearched(db: Database): bigint {
  const row = db.prepare("SELECT value FROM meta WHERE name = 'read_from'").get();
  return BigInt(Number(row?.['value'] ?? 0));
}
