import { valueAt } from '../../../shared/map-values.ts';
import type { GraphDatabase } from './graph-database.ts';

/** Numeric ids of rows. An assigned id never belongs to another row, even after its row was removed. */
export type RowIds = ReturnType<typeof openRowIds>;

/** Opens the ids of a graph's file. New ones are in memory until `flush`. */
export function openRowIds(db: GraphDatabase) {
  /** Row keys by type and id, of the current batch. */
  const given = new Map<number, Map<number, number>>();
  return {
    isFree: (type: number, id: number): boolean =>
      given.get(type)?.has(id) !== true &&
      db.get('SELECT 1 FROM ids WHERE type = ? AND id = ?', type, id) === undefined,
    give(type: number, id: number, key: number): void {
      valueAt(given, type, () => new Map()).set(id, key);
    },
    /** Must run in the transaction of the events. */
    flush(): void {
      for (const [type, ids] of given) {
        for (const [id, key] of ids) db.run('INSERT OR REPLACE INTO ids VALUES (?, ?, ?)', type, id, key);
      }
      given.clear();
    },
  };
}
