import fc from 'fast-check';
import { expect, it } from 'vitest';
import { termValue } from '../../shared/read-index/embedded/columns/dictionary.ts';
import { sortValue } from '../../shared/read-index/embedded/columns/indexed-column.ts';
import { fewValues } from '../../shared/read-index/embedded/columns/number-column.ts';
import { dictionaryOf } from '../../shared/read-index/embedded/columns/term-column.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import { hasBit } from '../../shared/read-index/embedded/lists/bits.ts';
import { collectPosting } from '../../shared/read-index/embedded/lists/postings.ts';
import { borrowBits, columnOf, type RowSetIndex } from '../../shared/read-index/embedded/rows/row-set.ts';
import { createRowSets, versionRowSet } from '../../shared/read-index/embedded/rows/row-sets.ts';
import { applyRows } from '../../shared/read-index/embedded/sources/apply-batch.ts';
import { createSourceBlocks } from '../../shared/read-index/embedded/sources/source-blocks.ts';
import { warmColumns } from '../../shared/read-index/embedded/warm-columns.ts';
import type { RowChange } from '../../shared/read-index/read-index.ts';
import { BOOK, libraryRegistry, row } from '../contract/read-index-library.ts';

const registry = libraryRegistry();
const FIELDS = ['title', 'genre', 'copies', 'pages', 'price', 'inPrint', 'documentId'];
/** Number of books. More than are processed between two looks at the clock, so that changes arrive in the middle of a column. */
const BOOKS = 500;

function put(key: number, n: number): RowChange {
  const values = {
    id: key,
    title: n % 7 === 0 ? null : `title ${n % 90}`,
    genre: ['novel', 'essay', 'poem'][n % 3],
    copies: n % 5 === 0 ? null : String(2n ** 60n + BigInt(n % 50)),
    pages: n % 200,
    // There are more distinct values than a column keeps.
    price: n / 8,
    inPrint: n % 2 === 0,
  };
  return { type: BOOK, version: 'published', key, row: row(registry, BOOK, values) };
}

const change = fc
  .tuple(fc.integer({ min: 1, max: BOOKS + 300 }), fc.nat(5_000), fc.boolean())
  .map(
    ([key, n, isThere]): RowChange =>
      isThere ? put(key, n) : { type: BOOK, version: 'published', key, row: null },
  );

/** Returns every row's value according to the dictionary and its postings. */
function throughDictionary(rowSet: RowSetIndex, field: string): readonly unknown[] {
  const { store } = columnOf(rowSet, field);
  const dictionary =
    store.kind === 'terms' ? dictionaryOf(store.column, rowSet.size) : fewValues(store.column, rowSet.size);
  if (dictionary === undefined) return ['many'];
  const rows = Array.from({ length: rowSet.size }, (_, at) => termValue(dictionary, at));
  dictionary.values.forEach((value, term) => {
    if (value === undefined) return;
    const bits = borrowBits(rowSet);
    collectPosting(dictionary.postings, term, bits);
    rows.forEach((each, at) => {
      if (hasBit(bits, at) !== (each === value))
        throw new Error(`the posting of ${String(value)} is wrong at ${at}`);
    });
  });
  return rows;
}

/** Checks the column's dictionary against its values. */
function judgeDictionary(rowSet: RowSetIndex, field: string): void {
  const column = columnOf(rowSet, field);
  const isKept = column.store.kind === 'terms' ? column.store.column.dictionary : column.store.column.few;
  expect(isKept).not.toBe(undefined);
  expect(isKept).not.toBe('unknown');
  const expected = Array.from({ length: rowSet.size }, (_, row) => sortValue(column, row));
  const found = throughDictionary(rowSet, field);
  if (found[0] !== 'many') expect(found).toEqual(expected);
  else expect(new Set(expected).size).toBeGreaterThan(256);
}

it('makes right dictionaries of columns, with any changes and queries meanwhile', async () => {
  const step = fc.record({
    changes: fc.array(change, { maxLength: 30 }),
    asked: fc.option(fc.constantFrom(...FIELDS), { freq: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const target = { rowSets: createRowSets(registry, 3), sources: createSourceBlocks() };
      applyRows(
        target,
        Array.from({ length: BOOKS }, (_, i) => put(i + 1, i)),
      );
      const rowSet = versionRowSet(target.rowSets, BOOK, 'published');
      let at = 0;
      const pause = async () => {
        const next = steps[at++];
        applyRows(target, next?.changes ?? []);
        if (next?.asked) throughDictionary(rowSet, next.asked);
        return true;
      };
      await warmColumns(target.rowSets, { pause, sliceMs: 0 });
      for (const field of FIELDS) {
        judgeDictionary(rowSet, field);
        expect(columnOf(rowSet, field).watchers.size).toBe(0);
      }
    }),
    { numRuns: Number(process.env['VARVE_PROPERTY_RUNS'] ?? 60) },
  );
});

it('stops when the index is closed', async () => {
  const index = createEmbeddedIndex({ registry });
  await index.apply({ position: 1n, rows: [put(1, 1)], links: [] });
  const warming = index.local.warm();
  await index.close();
  await expect(warming).resolves.toBeUndefined();
});
