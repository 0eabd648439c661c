import type { Database } from '../../../shared/sqlite/database.ts';

/** Position of the last event that is in a graph's file; 0n before the first. `file`: name of the file in a connection to several files. */
export function readGraphPosition(db: Database, file = 'main'): bigint {
  const row = db.prepare(`SELECT value FROM ${file}.meta WHERE name = 'position'`).get();
  return BigInt(Number(row?.['value'] ?? 0));
}
