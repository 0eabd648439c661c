import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { selectRows } from '../../shared/read-index/embedded/lists/bits.ts';
import { createRowSets, worldRowSet } from '../../shared/read-index/embedded/rows/row-sets.ts';
import { createRanking } from '../../shared/read-index/embedded/search/rank-rows.ts';
import { createRankGroups, type RankGroups } from '../../shared/read-index/embedded/search/rank-term.ts';
import { createTextTerms, matchTexts } from '../../shared/read-index/embedded/search/search-texts.ts';
import { applyRows } from '../../shared/read-index/embedded/sources/apply-batch.ts';
import { createSourceBlocks } from '../../shared/read-index/embedded/sources/source-blocks.ts';
import { createTextIndex } from '../../shared/read-index/embedded/words/text-index.ts';
import { searchOf } from '../../shared/search/search-settings.ts';
import { inSlice, SLICE_OVER } from '../../shared/turns/slice.ts';
import {
  ARTICLE,
  type Article,
  article,
  articleChange,
  articleRegistry,
  TYPED,
} from '../support/searched-articles.ts';

const RUNS = Number(process.env['VARVE_PROPERTY_RUNS'] ?? 300);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);
const registry = articleRegistry();

const search = fc.record({
  query: fc
    .tuple(fc.constantFrom(...TYPED, 'heat zzz', 'été zzz'), fc.constantFrom('', ' '))
    .map(([words, end]) => words + end),
  locales: fc.constantFrom<'all' | string[]>('all', ['en'], ['fr']),
  fields: fc.constantFrom(undefined, new Set(['title']), new Set(['body', 'code'])),
  typoTolerance: fc.boolean(),
});
type Asked = typeof search extends fc.Arbitrary<infer S> ? S : never;

function open(articles: readonly Article[]) {
  const rowSets = createRowSets(registry, 1_000);
  applyRows(
    { rowSets, sources: createSourceBlocks() },
    articles.map((each) => articleChange({ ...each, version: 'published' })),
  );
  const rowSet = worldRowSet(rowSets, ARTICLE, 'published');
  return createTextIndex(rowSets, 'published', rowSet, searchOf(registry, ARTICLE));
}

function find(articles: readonly Article[], { query, locales, fields, typoTolerance }: Asked) {
  const index = open(articles);
  const text = { query, locales, typoTolerance, isRanked: true, ...(fields && { fields }) };
  const { searches, matched } = matchTexts(
    index,
    createTextTerms(index, text)(),
    index.rowSet.present,
    query,
  );
  const groups = createRankGroups(index, searches, matched);
  return { searches, groups, ranked: createRanking(index, searches, matched)() };
}

/** Returns the rows of each rank, in the order of the groups. */
function rowsByRank(groups: RankGroups): readonly (readonly [number, readonly number[]])[] {
  const found: (readonly [number, readonly number[]])[] = [];
  for (let group = groups(); group !== undefined; group = groups()) {
    const rows = selectRows(group.rows, 0, Number.POSITIVE_INFINITY);
    expect(rows).toHaveLength(group.count);
    found.push([group.rank, rows]);
  }
  return found;
}

function expectedGroups({ rows, ranks }: ReturnType<typeof find>['ranked']) {
  const byRank = Map.groupBy(rows, (_, at) => ranks[at] as number);
  return [...byRank].sort(([a], [b]) => a - b);
}

/** Ends a slice at every look at the clock. */
function inShortSlices(groups: RankGroups): RankGroups {
  const slice = { steps: 1, restsAt: 1, haltsAt: Infinity, refusesAt: Infinity };
  return () => {
    for (;;) {
      let time = 0;
      try {
        return inSlice({ ...slice, now: () => ++time, refusal: () => new Error('refused') }, groups);
      } catch (error) {
        if (error !== SLICE_OVER) throw error;
      }
    }
  };
}

describe(`rows of one term (seed ${SEED}, ${RUNS} runs)`, () => {
  it.each([
    ['at a stretch', (groups: RankGroups) => groups],
    ['in slices', inShortSlices],
  ])('have the ranks that their words give them, %s', (_, run) => {
    let compared = 0;
    fc.assert(
      fc.property(fc.array(article, { minLength: 12, maxLength: 24 }), search, (articles, asked) => {
        const { groups, ranked } = find(articles, asked);
        if (groups === undefined) return;
        expect(rowsByRank(run(groups))).toEqual(expectedGroups(ranked));
        if (ranked.rows.length > 1) compared++;
      }),
      { numRuns: RUNS, seed: SEED },
    );
    expect(compared).toBeGreaterThan(RUNS / 10);
  });

  it('are not grouped where several terms match, or two words make the term', () => {
    const texts = ['heat layer', 'heatlayer', 'layer theory boundary maison café'];
    const articles = texts.map((title, key) => ({
      ...{ key, version: 'published' as const, locale: 'en', stars: null },
      texts: [title, '', ''],
    }));
    const isGrouped = (query: string) =>
      find(articles, { query, locales: ['en'], fields: undefined, typoTolerance: true }).groups !== undefined;
    expect(isGrouped('heat ')).toBe(true);
    expect(isGrouped('heat la')).toBe(false);
    expect(isGrouped('heatlayer ')).toBe(false);
    expect(isGrouped('layer theory boundary maison café')).toBe(false);
  });
});
