import { expect, it } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { type StaleDocuments, staleDocumentsOf } from '../../projections/graph/stale/stale-documents.ts';
import { graphFile } from '../../projections/graph/store/generation-files.ts';
import { inheritStale, type OutsideGeneration } from '../../services/read-side/outside-generation.ts';
import { documentDependencies } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import { takeAll } from '../support/graph-documents.ts';
import { created, createLog, DEFINITIONS, withFolder } from './graph-fixture.ts';

const LIVE: IndexSet = { 'v-tag-draft': 'v-tag-draft-1', 'v-chef-draft': 'v-chef-draft-1' };
const NEXT: IndexSet = { ...LIVE, 'v-chef-draft': 'v-chef-draft-2' };

/** Returns the names of the documents that a generation with this set writes again. One tag is stale in the live generation, one is refused. */
function inheritedBy(set: IndexSet): readonly (string | undefined)[] {
  return withFolder((data) => {
    const open = (number: number) =>
      openContentGraph(graphFile(data, number), { dependencies: documentDependencies });
    const [live, next] = [open(1), open(2)];
    const log = createLog();
    for (const graph of [live, next]) {
      graph.apply(log.all().length === 0 ? log.add(...DEFINITIONS) : log.all());
      staleDocumentsOf(graph).markAll([]);
    }
    const refused = log.add(created('tag', 'refused'));
    const stale = log.add(created('tag', 'stale'));
    for (const graph of [live, next]) graph.apply(refused);
    refuseAll(staleDocumentsOf(live), live.position());
    for (const graph of [live, next]) graph.apply(stale);
    takeAll(next);
    const store = { live: () => ({ number: 1 }) };
    inheritStale({ data, store, graph: next, set } as unknown as OutsideGeneration, LIVE);
    const names = takeAll(next).map(({ key }) => next.inspect().nameOf(key)?.documentId);
    live.close();
    next.close();
    return [...new Set(names)].sort();
  });
}

function refuseAll({ next, settle }: StaleDocuments, position: bigint): void {
  settle(
    position,
    next('edits', 10, new Map()).map((document) => ({ document, refused: 'too large' })),
  );
}

it('a generation writes again what the live one has not written, or could not, in indices that both have', () => {
  expect(inheritedBy(NEXT)).toEqual(['refused', 'stale']);
});

it('a generation with indices of its own inherits nothing', () => {
  expect(inheritedBy({ 'v-chef-draft': 'v-chef-draft-2' })).toEqual([]);
});
