import { WORLDS, type World } from '../../shared/read-index/read-index.ts';
import type { StoredKey } from '../../shared/read-index/stored-documents.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { ContentGraph } from '../graph/content-graph.ts';
import { worldsOfKey } from '../graph/read/inspect-graph.ts';

/** Yields the documents that an index should have for a graph, by ascending key. Each batch has those of `rowsAtOnce` rows. */
export async function* documentsOfGraph(
  graph: Pick<ContentGraph, 'inspect'>,
  rowsAtOnce: number,
): AsyncGenerator<readonly StoredKey[]> {
  for (let after = 0; ; ) {
    const rows = graph.inspect().rowsAfter(after, rowsAtOnce);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.key;
    yield rows.flatMap(({ type, key }) => worldsOfKey(key).map((world) => ({ type, world, key })));
  }
}

/** Yields the documents that an index has for a graph's content types. `read` returns a page of them in order, after a key. */
export async function* documentsOfIndex<Found>(
  graph: Pick<ContentGraph, 'registry'>,
  read: (type: Uid, world: World, after: number) => Promise<readonly Found[]>,
  keyOf: (found: Found) => number,
): AsyncGenerator<{ readonly type: Uid; readonly world: World; readonly found: readonly Found[] }> {
  for (const { uid: type } of graph.registry().contentTypes.values()) {
    for (const world of WORLDS) {
      for (let after = 0; ; ) {
        const found = await read(type, world, after);
        const last = found.at(-1);
        if (last === undefined) break;
        after = keyOf(last);
        yield { type, world, found };
      }
    }
  }
}
