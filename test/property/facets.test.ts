import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DenormaliseSettings } from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import { DEFAULT_DENORMALISE } from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ChangeBatch, ReadIndex, SearchRequest } from '../../shared/read-index/read-index.ts';
import { libraryRegistry } from '../contract/read-index-library.ts';
import { historyOf } from '../support/brute-force-history.ts';
import { facetSearches } from '../support/brute-force-questions.ts';
import { createBruteForceReadIndex } from '../support/brute-force-read-index.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { createTestIndices, type TestIndices } from '../support/elasticsearch-index.ts';
import { singleLinks } from '../support/single-links.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Number of facets that are counted on each engine, on Elasticsearch a tenth. VARVE_FACETS=100000 for a full run. */
const FACETS = Number(process.env['VARVE_FACETS'] ?? 1_500);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);
const registry = libraryRegistry();

const SEARCHES = 8;
const PER_SEARCH = 5;
const searches = fc.array(facetSearches(registry, PER_SEARCH), { minLength: SEARCHES, maxLength: SEARCHES });

const SETTINGS: readonly (readonly [string, DenormaliseSettings])[] = [
  ['as by default', DEFAULT_DENORMALISE],
  ['nothing copied', { toOne: 0, toMany: 0, paths: [] }],
  ['much copied', { toOne: 3, toMany: 1, paths: ['books.tags', 'tags.books', 'author.books'] }],
];

type Opened = {
  readonly index: ReadIndex;
  /** Creates another index from all batches. Absent: the index cannot be rebuilt. */
  readonly rebuild?: (batches: readonly ChangeBatch[]) => Promise<ReadIndex>;
};

/** Counts facets after each edit of random histories, in an index and naively, until there were enough. */
async function compareCounts(open: () => Promise<Opened>, wanted: number): Promise<void> {
  let [counted, seed] = [0, SEED];
  while (counted < wanted) {
    const property = fc.asyncProperty(historyOf(registry), searches, async (history, asked) => {
      const batches = singleLinks(registry, history);
      const { index, rebuild } = await open();
      const naive = createBruteForceReadIndex(registry);
      for (const batch of batches) {
        await index.apply(batch);
        await naive.apply(batch);
        counted += await compareSearches(index, naive, asked);
      }
      if (rebuild !== undefined) counted += await compareSearches(await rebuild(batches), naive, asked);
    });
    await fc.assert(property, { seed: seed++, numRuns: 10, endOnFailure: true });
  }
}

async function compareSearches(
  index: ReadIndex,
  naive: ReadIndex,
  asked: readonly SearchRequest[],
): Promise<number> {
  await Promise.all(
    asked.map(async (request) => {
      const [{ facets }, wanted] = [await index.search(request), await naive.search(request)];
      expect(facets, fc.stringify(request)).toEqual(wanted.facets);
    }),
  );
  return asked.length * PER_SEARCH;
}

const openEmbedded = () => createEmbeddedIndex({ registry, reuseOrdinalsAfter: 0 });

it(`counts facets as a naive evaluator does, under edits and rebuilds (seed ${SEED}, ${FACETS} facets)`, {
  timeout: 300_000 + FACETS * 20,
}, async () => {
  const rebuild = async (batches: readonly ChangeBatch[]) => {
    const index = openEmbedded();
    for (const batch of batches) await index.apply(batch);
    return index;
  };
  await compareCounts(async () => ({ index: openEmbedded(), rebuild }), FACETS);
});

describe(
  `facets on Elasticsearch (seed ${SEED}, ${FACETS / 10} facets)`,
  await needsElasticsearch(takesMinutes('random facets on Elasticsearch')),
  () => {
    describe.each(SETTINGS)('%s', (_name, settings) => {
      let indices: TestIndices;
      beforeAll(async () => {
        indices = await createTestIndices(registry, settings);
      }, 180_000);
      afterAll(() => indices?.remove());

      it('counts as a naive evaluator does, under edits', async () => {
        const share = FACETS / 10 / SETTINGS.length;
        await compareCounts(async () => ({ index: await indices.open() }), share);
      }, 7_200_000);
    });
  },
);
