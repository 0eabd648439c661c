import { expect, it } from 'vitest';
import { createWordsMeta } from '../../../services/query/words-meta.ts';
import { createFacetCount } from '../../../shared/read-index/embedded/facets/count-facets.ts';
import { createKeptSets } from '../../../shared/read-index/embedded/match/kept-sets.ts';
import { createOrderCache } from '../../../shared/read-index/embedded/order/order-cache.ts';
import { createRowSets, worldRowSet } from '../../../shared/read-index/embedded/rows/row-sets.ts';
import { createRanking } from '../../../shared/read-index/embedded/search/rank-rows.ts';
import { createTextTerms } from '../../../shared/read-index/embedded/search/search-texts.ts';
import { createTextIndexes, textIndexOf } from '../../../shared/read-index/embedded/search/word-search.ts';
import { applyLinks, applyRows } from '../../../shared/read-index/embedded/sources/apply-batch.ts';
import { createSourceBlocks } from '../../../shared/read-index/embedded/sources/source-blocks.ts';
import type { FacetRequest } from '../../../shared/read-index/facets.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';
import { inSlice, SLICE_OVER } from '../../../shared/turns/slice.ts';
import { BOOK, libraryRegistry, row, TAG } from '../../contract/read-index-library.ts';
import { link } from '../../contract/read-index-shelf.ts';

const ROWS = 400;
const registry = libraryRegistry();
const rowSets = createRowSets(registry, 16);
const orders = createOrderCache(rowSets, 1_000);
const kept = createKeptSets();
const sources = createSourceBlocks();
const state = { rowSets, orders, kept, sources, texts: createTextIndexes() };
const books = Array.from({ length: ROWS }, (_, at) => ({ id: at + 1, title: `heat${at} <b>`, pages: at }));
applyRows(
  state,
  books.map((book) => ({ type: BOOK, version: 'published', key: book.id, row: row(registry, BOOK, book) })),
);
applyRows(
  state,
  [1, 2].map((tag) => ({ type: TAG, version: 'live', key: tag, row: row(registry, TAG, { id: tag }) })),
);
applyLinks(
  state,
  books.flatMap(({ id }) => [1, 2].map((tag) => link(BOOK, 'tags', id, tag))),
);
const rowSet = worldRowSet(rowSets, BOOK, 'published');
const index = textIndexOf(state, rowSet, 'published');

/** Runs a step in slices that end as soon as work is counted. Returns the result and the number of slices. */
function inShortSlices<Result>(step: () => Result): { readonly result: Result; readonly slices: number } {
  for (let slices = 1; ; slices++) {
    let time = 0;
    const ends = { restsAt: 1, haltsAt: Infinity, refusesAt: Infinity };
    try {
      const slice = { now: () => ++time, steps: 1, ...ends, refusal: () => new Error('refused') };
      return { result: inSlice(slice, step), slices };
    } catch (error) {
      if (error !== SLICE_OVER) throw error;
    }
  }
}

const text = (query: string) => ({ query, locales: ['en'], typoTolerance: true, isRanked: true });

// All words begin with the first query. They are compared, and then their rows are collected.
it.each([
  ['h', ROWS * 1.5],
  ['heat1', 3],
  ['heatt399', 3],
  ['hetheat3', 3],
])('compares the words for %s in slices', (query, least) => {
  const whole = createTextTerms(index, text(query))();
  const rows = whole.map(({ terms }) => terms.map((term) => term.rows));
  // A new version makes the index forget remembered words.
  for (const { vocabulary } of index.locales.values()) vocabulary.version++;
  const { result, slices } = inShortSlices(createTextTerms(index, text(query)));
  expect(result.map(({ terms }) => terms.map((term) => term.rows))).toEqual(rows);
  expect(slices).toBeGreaterThan(least - 1);
});

it.each([
  // Words with this prefix are sorted by their typos and noted; then rows are ranked by their words.
  ['h', 3 * ROWS],
  // A question has no typos to count.
  ['heat1 heat2 heat3 heat4 heat5 h', ROWS],
])('ranks rows by the words of %s in slices', (query, least) => {
  const searches = createTextTerms(index, text(query))();
  const ranked = createRanking(index, searches, rowSet.present)();
  const { result, slices } = inShortSlices(createRanking(index, searches, rowSet.present));
  expect(result).toEqual(ranked);
  expect(new Set(result.ranks).size).toBeGreaterThan(query === 'h' ? 0 : 1);
  expect(slices).toBeGreaterThan(least);
});

it.each<[string, Partial<FacetRequest>]>([
  ['title', { type: 'string' }],
  ['title', { type: 'string', search: 'heat39' }],
  ['pages', { type: 'integer' }],
])('names the values of the facet %s in slices', (field, more) => {
  const asked: FacetRequest = { path: [], field, type: 'string', limit: 5, ...more };
  const count = () =>
    createFacetCount({ rowSets, world: 'published', rowSet }, asked, {
      matched: rowSet.present,
      count: ROWS,
    });
  const { result, slices } = inShortSlices(count());
  expect(result).toEqual(count()());
  expect(result.values.length).toBe(5);
  // The rows take slices, and then the values.
  expect(slices).toBeGreaterThan(ROWS * 2);
});

it('counts the values behind many rows in slices', () => {
  const path = ['tags', 'books', 'tags', 'books'];
  const asked: FacetRequest = { path, field: 'title', type: 'string', limit: ROWS + 1 };
  const some = rowSet.present.map((word) => word & 0x55555555);
  const count = () =>
    createFacetCount({ rowSets, world: 'published', rowSet }, asked, { matched: some, count: ROWS / 2 });
  const { result, slices } = inShortSlices(count());
  const everyBook = books.map(({ title }) => ({ value: title, count: ROWS / 2 }));
  expect(result.values.toSorted((a, b) => (a.value < b.value ? -1 : 1))).toEqual(
    everyBook.toSorted((a, b) => (a.value < b.value ? -1 : 1)),
  );
  // Each level is visited once, and then the rows and the values. Paths from each row would visit some hundred thousand rows.
  expect(slices).toBeGreaterThan(ROWS * 4);
  expect(count()()).toEqual(result);
});

it('marks matches in slices', () => {
  const [search] = createTextTerms(index, text('heat1 '))();
  const report = {
    terms: new Map([['en', search?.terms.map(({ term }) => term) ?? []]]),
    corrected: new Map(),
  };
  const plan = {
    type: contentTypeOf(registry, BOOK),
    facets: [],
    highlights: { attributes: [{ name: 'title', type: 'string' } as const], before: '<i>', after: '</i>' },
    manyLocales: false,
    rules: [],
    replacesWords: false,
  };
  const sources = books
    .slice(0, 20)
    .map((book) => Buffer.from(JSON.stringify({ ...book, documentId: `d${book.id}` })));
  const found = { total: 20, hits: { rows: [], sources }, text: report };
  const { result, slices } = inShortSlices(createWordsMeta(plan, found));
  expect(result).toBe(createWordsMeta(plan, found)());
  expect(result).toContain('"d2":{"title":"<i>heat1</i> &lt;b&gt;"}');
  expect(slices).toBeGreaterThan(20);
});
