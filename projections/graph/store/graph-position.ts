import type { Database } from '../../../shared/sqlite/database.ts';

/** Position of the last event that is in a graph's file; 0n before the first. `file`: name of the file in a connection to several files. */
export function readGraphPosition(db: Database, file = 'main'): bigint {
  const row = db.prepare(`SELECT value FROM ${file}.meta WHERE name = 'position'`).get();
  return BigInt(Number(row?.['value'] ?? 0));
}

/** Reads the position up to which a graph's file says that the log was searched; 0n if it says nothing. */
export function readSearched(db: Database): bigint {
  const row = db.prepare("SELECT value FROM meta WHERE name = 'read_from'").get();
  return BigInt(Number(row?.['value'] ?? 0));
}
