import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { documentName } from '../../projections/graph/stale/stale-documents.ts';
import type { IndexableDocument } from '../../shared/read-index/document-index.ts';
import {
  createElasticsearchCluster,
  documentDependencies,
} from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { createLayouts } from '../../shared/read-index/elasticsearch/layout/create-layouts.ts';
import { documentText } from '../support/document-text.ts';
import { count } from '../support/takes-minutes.ts';
import { createLog, DEFINITIONS, withGraph } from '../unit/graph-fixture.ts';
import { historyOf, steps } from '../unit/graph-history.ts';

const RUNS = Math.ceil(Number(process.env['VARVE_PROPERTY_RUNS'] ?? count(200, 80)) / 40);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);

/** Bytes of all documents: several times the size of the buffer in which they are made. */
const MADE_BYTES = 6 * 2 ** 20;

type Made = { readonly document: IndexableDocument; readonly text: string };

/** Makes each document separately. Returns them by world and key. */
function madeAlone(graph: ContentGraph): ReadonlyMap<string, string> {
  const layouts = createLayouts(graph.registry());
  const texts = new Map<string, string>();
  for (const stale of graph.stale?.all() ?? []) {
    const { neighbours } = graph.stale?.read(stale) ?? expect.unreachable();
    const layout = layouts.get(stale.type) ?? expect.unreachable();
    const row = neighbours.row(stale.type, stale.key) ?? expect.unreachable();
    texts.set(documentName(stale), documentText(layout, stale.key, row, neighbours));
  }
  return texts;
}

function textOf({ bytes }: IndexableDocument): string {
  return String(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).split('\n')[1] ?? '';
}

describe(`documents made one after the other (seed ${SEED}, ${RUNS} runs)`, () => {
  it('equal documents that are made separately, until they are released', () => {
    const released = fc.infiniteStream(fc.integer({ min: 1, max: 40 }));
    fc.assert(
      fc.property(steps(), released, (history, sizes) => {
        withGraph({ dependencies: documentDependencies }, (graph) => {
          const log = createLog();
          graph.apply(log.add(...DEFINITIONS, ...historyOf(history)));
          const alone = madeAlone(graph);
          const registry = graph.registry();
          const { createWriter } = createElasticsearchCluster({ connection: {}, space: 'made', registry });
          const writer = createWriter();
          let held: Made[] = [];
          let size = 0;
          const releaseSome = () => {
            for (const { document, text } of held) expect(textOf(document)).toBe(text);
            const count = sizes.next().value as number;
            writer.release(held.slice(0, count).map(({ document }) => document));
            held = held.slice(count);
          };
          while (size < MADE_BYTES && alone.size > 0) {
            for (const stale of graph.stale?.all() ?? []) {
              const { row, neighbours } = graph.stale?.read(stale) ?? expect.unreachable();
              const document = writer.present(row, neighbours);
              const text = alone.get(documentName(stale)) ?? '';
              expect(textOf(document)).toBe(text);
              held.push({ document, text });
              size += document.bytes.length;
            }
            releaseSome();
          }
        });
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure: true },
    );
  });
});
