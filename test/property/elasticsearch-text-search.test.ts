import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  DEFAULT_DENORMALISE,
  type DenormaliseSettings,
} from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex, SearchResult } from '../../shared/read-index/read-index.ts';
import type { SearchTerm } from '../../shared/search/search-terms.ts';
import {
  type ArticleSearch,
  applyStep,
  createArticleWorld,
  type SearchStep,
  searchRequest,
  searchSteps,
} from '../support/article-searches.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { createTestIndices, type TestIndices } from '../support/elasticsearch-index.ts';
import { articleRegistry, tagChanges } from '../support/searched-articles.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Number of searches of all settings together, each with four facets. VARVE_SEARCHES=20000 for a full run. */
const SEARCHES = Number(process.env['VARVE_SEARCHES'] ?? 200);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);
const registry = articleRegistry();

/** Number of searches after each edit. They are sent together, after one refresh of the indices. */
const PER_STEP = 40;
const STEPS = 4;

const SETTINGS: readonly (readonly [string, DenormaliseSettings])[] = [
  ['as by default', DEFAULT_DENORMALISE],
  ['nothing copied', { toOne: 0, toMany: 0, paths: [] }],
];

function idsOf({ hits }: SearchResult): readonly number[] {
  return hits.sources.map((source) => JSON.parse(Buffer.from(source).toString()).id as number);
}

/** Returns the number of words without stop words. A split word counts once, and a repeated one as often as it was typed. */
function typedWords(terms: readonly SearchTerm[]): number {
  const counts = new Map(terms.map(({ place, count }) => [place, count]));
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** Returns the part of an answer that is compared. Tiers give the same order. BM25 may differ, so a question's hits are a set. */
async function answerOf(index: ReadIndex, search: ArticleSearch) {
  const request = searchRequest(search);
  const result = await index.search(request);
  const terms = [...(result.text?.terms ?? [])];
  const isQuestion = terms.some(([, each]) => typedWords(each) > 4);
  const ids = isQuestion
    ? idsOf(await index.search({ ...request, from: 0, size: 1000 })).toSorted((a, b) => a - b)
    : idsOf(result);
  const { total, facets, text, words } = result;
  return {
    total,
    words,
    ids,
    facets,
    // Elasticsearch lists compounds of deleted documents for a while. They are in no text that is marked.
    terms: Object.fromEntries(
      terms.map(([locale, each]) => [locale, each.map((term) => ({ ...term, compounds: undefined }))]),
    ),
    corrected: [...(text?.corrected ?? [])].sort(),
  };
}

describe(
  `search by words on elasticsearch against embedded (seed ${SEED}, ${SEARCHES} searches)`,
  await needsElasticsearch(takesMinutes('random searches by words on Elasticsearch')),
  () => {
    describe.each(SETTINGS)('%s', (_, settings) => {
      let indices: TestIndices;
      beforeAll(async () => {
        indices = await createTestIndices(registry, settings);
      }, 180_000);
      afterAll(() => indices?.remove());

      it('finds, orders, corrects, completes and counts the same, under edits', async () => {
        const steps = fc.array(searchSteps(PER_STEP), { minLength: 1, maxLength: STEPS });
        let [asked, seed] = [0, SEED];
        // Runs one history at a time until there were enough searches.
        while (asked < SEARCHES / SETTINGS.length) {
          const property = fc.asyncProperty(steps, async (history) => {
            asked += await compareEngines(await indices.open(), history);
          });
          await fc.assert(property, { seed: seed++, numRuns: 1, endOnFailure: true });
        }
      }, 7_200_000);
    });
  },
);

/** Applies edits to both engines and compares their searches. Returns the number of searches. */
async function compareEngines(index: ReadIndex, history: readonly SearchStep[]): Promise<number> {
  const embedded = createEmbeddedIndex({ registry });
  const both = [index, embedded];
  const world = createArticleWorld();
  for (const each of both) await each.apply({ position: 1n, rows: tagChanges(), links: [] });
  let asked = 0;
  for (const [at, step] of history.entries()) {
    await applyStep(both, world, step, BigInt(at + 2));
    await Promise.all(
      step.requests.map(async (search) =>
        expect(await answerOf(index, search), JSON.stringify(search)).toEqual(
          await answerOf(embedded, search),
        ),
      ),
    );
    asked += step.requests.length;
  }
  return asked;
}
