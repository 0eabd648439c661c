import { deserialize, serialize } from 'node:v8';
import { INDEX_FORMAT } from '../../../shared/read-index/index-format.ts';
import type { ChangeBatch } from '../../../shared/read-index/read-index.ts';
import type { GraphDatabase } from './graph-database.ts';

/** Changes for the index after its last snapshot. They are in the graph's file and its transactions, so a crash loses none. */
export type IndexChanges = ReturnType<typeof openIndexChanges>;

/** Maximum bytes. Reading the whole graph costs less than applying more of them, and an import would double its writes. */
const MOST_BYTES = 64 * 2 ** 20;
const SINCE = 'index_changes_since';

/** Opens the recorded changes of a graph. Nothing is recorded before there is a snapshot. `mostBytes`: more end the record. */
export function openIndexChanges(db: GraphDatabase, mostBytes = MOST_BYTES) {
  let since = db.meta(SINCE);
  let bytes = Number(db.get('SELECT total(length(batch)) FROM index_changes')?.[0]);
  const remove = () => db.run('DELETE FROM index_changes');
  const end = () => {
    db.run('DELETE FROM meta WHERE name = ?', SINCE);
    remove();
    since = undefined;
  };
  return {
    isRecording: () => since !== undefined,
    /** Records the changes after a position, in place of earlier ones: a snapshot has these. */
    begin(position: bigint): void {
      db.transaction(() => {
        remove();
        db.setMeta(SINCE, position);
      }, false);
      since = Number(position);
      bytes = 0;
    },
    /** Ends the record: there is no snapshot that could use it. */
    end(): void {
      if (since !== undefined) db.transaction(end, false);
    },
    /** Records a batch, in the transaction of its events. `definesTypes`: after it, the index has other content types. */
    add({ position, rows, links }: ChangeBatch, definesTypes: boolean): void {
      if (since === undefined) return;
      const saved = rows.length + links.length === 0 ? undefined : serialize([INDEX_FORMAT, rows, links]);
      bytes += saved?.length ?? 0;
      if (definesTypes || bytes > mostBytes) end();
      else if (saved !== undefined) db.run('INSERT INTO index_changes VALUES (?, ?)', position, saved);
    },
    /** Returns the changes after a position, in order; undefined if some are missing, or another program has recorded some. */
    after(position: bigint): readonly ChangeBatch[] | undefined {
      if (since === undefined || since > position) return undefined;
      const found = db.all(
        'SELECT position, batch FROM index_changes WHERE position > ? ORDER BY position',
        position,
      );
      const batches: ChangeBatch[] = [];
      for (const [at, saved] of found) {
        const [format, rows, links] = deserialize(saved as Uint8Array);
        if (format !== INDEX_FORMAT) return undefined;
        batches.push({ position: BigInt(at as number), rows, links });
      }
      return batches;
    },
  };
}
