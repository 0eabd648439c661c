import type { DocumentErased } from '../../../shared/erasure/erasure-events.ts';
import type { GraphDatabase } from './graph-database.ts';

const ENTRIES =
  'SELECT id FROM entries WHERE document_id = ? AND type = (SELECT id FROM names WHERE name = ?)';
/** Removes everything that an erased log no longer says of the entries: a replay gives the same graph. Their deletion stays. */
const STATEMENTS = [
  `DELETE FROM journal WHERE event <> 2 AND key / 4 IN (${ENTRIES})`,
  `UPDATE journal SET names = NULL, links_after = NULL WHERE key / 4 IN (${ENTRIES})`,
  `UPDATE entries SET shared_edited = 0, shared_published = 0, unpublished = '', equal_at = 0 WHERE id IN (${ENTRIES})`,
  `DELETE FROM kept_values WHERE entry IN (${ENTRIES})`,
];

/**
 * Removes what the graph knows of a document that has no rows any more: its changes, its kept values and its commands. Must run in the
 * transaction of the event, and no series of events may be open.
 */
export function forgetErased(db: GraphDatabase, { type, documentId }: DocumentErased['data']): void {
  for (const sql of STATEMENTS) db.run(sql, documentId, type);
  db.run('DELETE FROM commands WHERE document_id = ?', documentId);
}
