import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  DEFAULT_DENORMALISE,
  type DenormaliseSettings,
} from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex, SearchResult } from '../../shared/read-index/read-index.ts';
import {
  type ArticleSearch,
  applyStep,
  createArticleWorld,
  searchRequest,
  searchStep,
} from '../support/article-searches.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { createTestIndices, type TestIndices } from '../support/elasticsearch-index.ts';
import { articleRegistry, tagChanges } from '../support/searched-articles.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Histories per setting, each with some eight searches: a full run of 20,000 is VARVE_PROPERTY_RUNS=1250. */
const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? 10);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? Date.now() % 2 ** 31);
const registry = articleRegistry();

const SETTINGS: readonly (readonly [string, DenormaliseSettings])[] = [
  ['as by default', DEFAULT_DENORMALISE],
  ['nothing copied', { toOne: 0, toMany: 0, paths: [] }],
];

function idsOf({ hits }: SearchResult): readonly number[] {
  return hits.sources.map((source) => JSON.parse(Buffer.from(source).toString()).id as number);
}

/** In tiers the order is the same; BM25 may differ, so that of a question the whole set is compared. */
async function answerOf(index: ReadIndex, search: ArticleSearch) {
  const request = searchRequest(search);
  const result = await index.search(request);
  const terms = [...(result.text?.terms ?? [])];
  const isQuestion = terms.some(([, each]) => each.length > 4);
  const ids = isQuestion
    ? idsOf(await index.search({ ...request, from: 0, size: 1000 })).toSorted((a, b) => a - b)
    : idsOf(result);
  const { total, facets, text } = result;
  return {
    total,
    ids,
    facets,
    terms: Object.fromEntries(terms),
    corrected: [...(text?.corrected ?? [])].sort(),
  };
}

describe(
  `search by words on elasticsearch against embedded (seed ${SEED}, ${RUNS} runs)`,
  await needsElasticsearch(takesMinutes('random searches by words on Elasticsearch')),
  () => {
    describe.each(SETTINGS)('%s', (_, settings) => {
      let indices: TestIndices;
      beforeAll(async () => {
        indices = await createTestIndices(registry, settings);
      }, 180_000);
      afterAll(() => indices?.remove());

      it('finds, orders, corrects and counts the same, under edits', async () => {
        const property = fc.asyncProperty(
          fc.array(searchStep, { minLength: 1, maxLength: 4 }),
          async (steps) => {
            const index = await indices.open();
            const embedded = createEmbeddedIndex({ registry });
            const both = [index, embedded];
            const world = createArticleWorld();
            for (const each of both) await each.apply({ position: 1n, rows: tagChanges(), links: [] });
            for (const [at, step] of steps.entries()) {
              await applyStep(both, world, step, BigInt(at + 2));
              for (const search of step.requests)
                expect(await answerOf(index, search), JSON.stringify(search)).toEqual(
                  await answerOf(embedded, search),
                );
            }
          },
        );
        await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
      }, 3_600_000);
    });
  },
);
