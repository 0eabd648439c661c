import type { MakeRoom } from '../../../shared/make-room.ts';
import { openReadSnapshot } from '../../../shared/sqlite/read-snapshot.ts';
import { createExistingRows, type ExistingRows } from '../store/row-keys.ts';

/** A millisecond or two of work. */
const KEYS_AT_ONCE = 2_500;

/**
 * Reads which rows a graph's file has, making room in between: opening the graph at once holds a process up for a tenth of a
 * second per 100,000 rows. Nobody may write to the file until the graph is opened with this.
 */
export async function readExistingRows(file: string, makeRoom: MakeRoom): Promise<ExistingRows> {
  const { connection, close } = openReadSnapshot(file);
  try {
    const existing = createExistingRows();
    const statement = connection.prepare('SELECT key FROM rows WHERE key > ? ORDER BY key LIMIT ?');
    for (let last: number | undefined = -1; last !== undefined; ) {
      const started = performance.now();
      const keys: number[] = statement.all(last, KEYS_AT_ONCE).map(({ key }) => Number(key));
      for (const key of keys) existing.add(key);
      last = keys.at(-1);
      await makeRoom(performance.now() - started);
    }
    return existing;
  } finally {
    close();
  }
}
