import { expect, it } from 'vitest';
import { createOrderCache } from '../../../shared/read-index/embedded/order/order-cache.ts';
import { createRowSets, worldRowSet } from '../../../shared/read-index/embedded/rows/row-sets.ts';
import { createCommonParts } from '../../../shared/read-index/embedded/search/common-parts.ts';
import { createTextIndexes, textIndexOf } from '../../../shared/read-index/embedded/search/word-search.ts';
import { applyRows } from '../../../shared/read-index/embedded/sources/apply-batch.ts';
import { createSourceStore } from '../../../shared/read-index/embedded/sources/source-store.ts';
import type { SearchRequest } from '../../../shared/read-index/read-index.ts';
import type { TextSearch } from '../../../shared/read-index/text-search.ts';
import { BOOK, libraryRegistry, row } from '../../contract/read-index-library.ts';
import { all, MATCH_ALL, not, term } from '../../contract/read-index-shelf.ts';

const [poem, long, short] = [term('genre', 'poem'), term('pages', 9), not(term('pages', 9))];
const heat: TextSearch = { query: 'heat', locales: ['en'], typoTolerance: true, isRanked: true };

const request = (query: SearchRequest['query']): SearchRequest => ({
  ...{ type: BOOK, world: 'published', query, sort: [], from: 0, size: 0, withTotal: true, text: heat },
});

function openParts(requests: readonly SearchRequest[]) {
  const registry = libraryRegistry();
  const rowSets = createRowSets(registry, 16);
  const state = {
    rowSets,
    sources: createSourceStore(1_000_000, undefined),
    orders: createOrderCache(rowSets, 1_000),
    texts: createTextIndexes(),
  };
  const books = [9, 9, 8, 7].map((pages, at) => ({ id: at + 1, pages, genre: 'poem', title: 'heat' }));
  applyRows(
    state,
    books.map((book) => ({ type: BOOK, version: 'published', key: book.id, row: row(registry, BOOK, book) })),
  );
  const rowSet = worldRowSet(rowSets, BOOK, 'published');
  const index = textIndexOf(state, rowSet, 'published');
  return { common: createCommonParts(state, requests), rowSet, index };
}

it('collects the rows of a condition once for several searches', () => {
  const [both, other] = [request(all(poem, long)), request(all(short, poem))];
  const { common, rowSet } = openParts([both, other]);
  const [rows, others] = [common.match(rowSet, both)(), common.match(rowSet, other)()];
  expect([rows[0], others[0]]).toEqual([0b0011, 0b1100]);
  const poems = common.match(rowSet, request(poem))();
  expect(poems[0]).toBe(0b1111);
  expect(common.match(rowSet, request(poem))()).toBe(poems);
  expect(common.match(rowSet, request(long))()).not.toBe(common.match(rowSet, request(long))());
  expect(common.match(rowSet, request(MATCH_ALL))()).toBe(rowSet.present);
});

it('finds the words of a query once for each choice of fields and typos', () => {
  const { common, index } = openParts([]);
  const found = common.terms(index, heat)();
  expect(found[0]?.terms[0]?.rows[0]).toBe(0b1111);
  expect(common.terms(index, { ...heat, isRanked: false })()).toBe(found);
  for (const other of [{ typoTolerance: false }, { fields: new Set(['body']) }, { query: 'head' }])
    expect(common.terms(index, { ...heat, ...other })()).not.toBe(found);
});
