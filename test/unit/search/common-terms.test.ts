import { expect, it } from 'vitest';
import { createKeptSets } from '../../../shared/read-index/embedded/match/kept-sets.ts';
import { createOrderCache } from '../../../shared/read-index/embedded/order/order-cache.ts';
import { createRowSets, worldRowSet } from '../../../shared/read-index/embedded/rows/row-sets.ts';
import { createCommonTerms } from '../../../shared/read-index/embedded/search/common-terms.ts';
import { createTextIndexes, textIndexOf } from '../../../shared/read-index/embedded/search/word-search.ts';
import { applyRows } from '../../../shared/read-index/embedded/sources/apply-batch.ts';
import { createSourceBlocks } from '../../../shared/read-index/embedded/sources/source-blocks.ts';
import type { TextSearch } from '../../../shared/read-index/text-search.ts';
import { BOOK, libraryRegistry, row } from '../../contract/read-index-library.ts';

const heat: TextSearch = { query: 'heat', locales: ['en'], typoTolerance: true, isRanked: true };

function openIndex() {
  const registry = libraryRegistry();
  const rowSets = createRowSets(registry, 16);
  const state = {
    rowSets,
    sources: createSourceBlocks(),
    orders: createOrderCache(rowSets, 1_000),
    kept: createKeptSets(),
    texts: createTextIndexes(),
  };
  const books = [1, 2, 3, 4].map((id) => ({ id, title: 'heat' }));
  applyRows(
    state,
    books.map((book) => ({ type: BOOK, version: 'published', key: book.id, row: row(registry, BOOK, book) })),
  );
  return textIndexOf(state, worldRowSet(rowSets, BOOK, 'published'), 'published');
}

it('finds the words of a query once for each choice of fields and typos', () => {
  const [common, index] = [createCommonTerms(), openIndex()];
  const found = common(index, heat)();
  expect(found[0]?.terms[0]?.rows[0]).toBe(0b1111);
  expect(common(index, { ...heat, isRanked: false })()).toBe(found);
  for (const other of [{ typoTolerance: false }, { fields: new Set(['body']) }, { query: 'head' }])
    expect(common(index, { ...heat, ...other })()).not.toBe(found);
});
