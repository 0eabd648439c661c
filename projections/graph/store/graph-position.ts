import type { Database } from '../../../shared/sqlite/database.ts';

/** Position of the last event that is in a graph's file; 0n before the first. */
export function readGraphPosition(db: Database): bigint {
  const row = db.prepare("SELECT value FROM meta WHERE name = 'position'").get();
  return BigInt(Number(row?.['value'] ?? 0));
}
