import { WORLDS } from '../../../shared/read-index/read-index.ts';
import type { GraphDatabase } from '../store/graph-database.ts';

/** Part of a statement that marks a row which is marked already. */
export const UPSERT = `ON CONFLICT (world, key) DO UPDATE SET prompt = max(prompt, excluded.prompt), position = excluded.position`;
const UPSERT_SINCE = `${UPSERT}, since = excluded.since`;

/** Urgency of documents that no write waits for. */
const BACKLOG = 0;

/** Marks every row of the types, by number. `isAnew`: rows that are stale already are stale since then too. */
export function markTypes(
  db: GraphDatabase,
  types: readonly number[],
  { since, position }: { readonly since: number; readonly position: number },
  isAnew: boolean,
): void {
  for (const type of types) {
    for (const world of WORLDS.keys()) {
      // Draft rows are in the draft world, published rows in the published world, and rows of types without drafts in both.
      const keys = 'SELECT key FROM rows WHERE type = ? AND key % 4 IN (?, 2)';
      const sql = markOf(keys, isAnew ? UPSERT_SINCE : UPSERT);
      db.run(sql, world, since, position, Date.now(), type, world);
    }
  }
}

/** Returns SQL that marks the selected keys. No write waits for them. */
export function markOf(select: string, upsert = UPSERT): string {
  return `INSERT INTO stale (world, key, prompt, since, position, marked_at)
    SELECT ?, key, ${BACKLOG}, ?, ?, ? FROM (${select}) WHERE true ${upsert}`;
}
