import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  DEFAULT_DENORMALISE,
  type DenormaliseSettings,
} from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import { createRowCache } from '../../shared/read-index/elasticsearch/read/row-cache.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { libraryRegistry } from '../contract/read-index-library.ts';
import { historyOf } from '../support/brute-force-history.ts';
import { searchRequests, traversalPlans } from '../support/brute-force-questions.ts';
import { createBruteForceReadIndex } from '../support/brute-force-read-index.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { createTestIndices, type TestIndices, type TestLimits } from '../support/elasticsearch-index.ts';
import { searchAnswer, traversalAnswer } from '../support/read-answers.ts';
import { sectionsRegistry } from '../support/sections.ts';
import { singleLinks } from '../support/single-links.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Number of histories per setting, each with some fifty questions. VARVE_PROPERTY_RUNS=140 for a full run of 20,000. */
const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? 4);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);
const library = libraryRegistry();
/** Pages with a dynamic zone of more components than a site has. */
const sections = sectionsRegistry(250);

/** Keeps rows in the process. Every search first asks only for digests. */
const keeping = (maxBytes: number) => () => ({ rows: createRowCache({ maxBytes, expectFrom: 0 }) });

/** Settings from no copies to more than by default, so that every strategy gets every query. The process keeps few or all rows. */
const SETTINGS: readonly (readonly [
  string,
  SchemaRegistry,
  DenormaliseSettings,
  () => Partial<TestLimits>,
])[] = [
  ['a zone of 250 components', sections, DEFAULT_DENORMALISE, () => ({})],
  ['as by default, few rows kept', library, DEFAULT_DENORMALISE, keeping(10_000)],
  ['nothing copied', library, { toOne: 0, toMany: 0, paths: [] }, () => ({})],
  [
    'much copied, rows kept',
    library,
    {
      toOne: 3,
      toMany: 1,
      paths: ['books.tags', 'authors.books.chapters', 'tags.books', 'prequel.related', 'author.books'],
    },
    keeping(2 ** 20),
  ],
];

describe(
  `elasticsearch against brute force (seed ${SEED}, ${RUNS} runs)`,
  await needsElasticsearch(takesMinutes('random queries on Elasticsearch')),
  () => {
    describe.each(SETTINGS)('%s', (_name, registry, settings, limits) => {
      let indices: TestIndices;
      beforeAll(async () => {
        indices = await createTestIndices(registry, settings);
      }, 180_000);
      afterAll(() => indices?.remove());

      it('gives the same answers to searches and traversals after every batch of a history', async () => {
        const searches = fc.array(searchRequests(registry), { minLength: 10, maxLength: 20 });
        const traversals = fc.array(traversalPlans(registry), { minLength: 4, maxLength: 8 });
        const property = fc.asyncProperty(
          historyOf(registry),
          searches,
          traversals,
          async (history, searched, traversed) => {
            const index = await indices.open(limits());
            const naive = createBruteForceReadIndex(registry);
            for (const batch of singleLinks(registry, history)) {
              await index.apply(batch);
              await naive.apply(batch);
              await Promise.all([
                ...searched.map(async (request) =>
                  expect(await searchAnswer(index, request)).toEqual(await searchAnswer(naive, request)),
                ),
                ...traversed.map(async (plan) =>
                  expect(await traversalAnswer(index, plan)).toEqual(await traversalAnswer(naive, plan)),
                ),
              ]);
            }
          },
        );
        await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
      }, 3_600_000);
    });
  },
);
