import { expect, it } from 'vitest';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import { countBits, selectRows, wordsFor } from '../../shared/read-index/embedded/lists/bits.ts';
import { bindQuery } from '../../shared/read-index/embedded/match/bind-query.ts';
import { createKeptSets, type KeptSets } from '../../shared/read-index/embedded/match/kept-sets.ts';
import { createOrderCache, sortedRows } from '../../shared/read-index/embedded/order/order-cache.ts';
import { LOGGED_ROWS } from '../../shared/read-index/embedded/rows/row-changes.ts';
import { createRowSets, worldRowSet } from '../../shared/read-index/embedded/rows/row-sets.ts';
import { applyRows } from '../../shared/read-index/embedded/sources/apply-batch.ts';
import { createSourceBlocks } from '../../shared/read-index/embedded/sources/source-blocks.ts';
import type { RowChange } from '../../shared/read-index/read-index.ts';
import { inSlice, SLICE_OVER } from '../../shared/turns/slice.ts';
import { BOOK, libraryRegistry, row } from '../contract/read-index-library.ts';
import { all, term } from '../contract/read-index-shelf.ts';

const ROWS = 2_000;
const registry = libraryRegistry();
const novels = all(term('genre', 'novel'), { kind: 'range', field: 'price', gte: 100 });

function book(key: number, price = key): RowChange {
  const values = { id: key, title: `title ${key}`, genre: key % 2 === 0 ? 'novel' : 'poem', price };
  return { type: BOOK, version: 'published', key, row: row(registry, BOOK, values) };
}

function openBooks(kept: KeptSets) {
  const rowSets = createRowSets(registry, 16);
  const orders = createOrderCache(rowSets, 100_000);
  const sources = createSourceBlocks();
  const change = (rows: readonly RowChange[]) => {
    kept.changes++;
    applyRows({ rowSets, sources }, rows);
  };
  change(Array.from({ length: ROWS }, (_, at) => book(at + 1)));
  const rowSet = worldRowSet(rowSets, BOOK, 'published');
  const find = (query: BoolQuery, keptOrNot = kept) => {
    const matcher = bindQuery({ rowSets, orders, kept: keptOrNot, world: 'published' }, rowSet, query);
    const bits = new Int32Array(wordsFor(rowSet.size));
    matcher.collect(bits);
    return { isKept: matcher.isExact === true, rows: selectRows(bits, 0, countBits(bits)) };
  };
  const naively = (query: BoolQuery) => find(query, createKeptSets(Number.POSITIVE_INFINITY)).rows;
  return { change, find, naively, rowSet, orders };
}

it('keeps the rows of a query once it has been missed, and tests changed rows again', () => {
  const { change, find, naively } = openBooks(createKeptSets(0));
  expect(find(novels)).toEqual({ isKept: true, rows: naively(novels) });
  change([book(2, 500), book(4, 5), { ...book(200), row: null }, book(ROWS + 2)]);
  const { rows, isKept } = find(novels);
  expect({ rows, isKept }).toEqual({ rows: naively(novels), isKept: true });
  expect([rows.includes(1), rows.includes(3), rows.includes(199)]).toEqual([true, false, false]);
});

it.each([
  ['more rows than it tests again', 64 + Math.ceil(ROWS / 64) + 1],
  ['more rows than a log has', LOGGED_ROWS + 1],
])('collects the rows again, and sorts them again, after changes of %s', (_what, changes) => {
  const kept = createKeptSets(0);
  const { change, find, naively, rowSet, orders } = openBooks(kept);
  find(novels);
  sortedRows(orders, rowSet, 'price');
  for (let at = 0; at < changes; at += ROWS)
    change(Array.from({ length: Math.min(ROWS, changes - at) }, (_, n) => book(n + 1, ROWS - n + at)));
  expect(find(novels).rows).toEqual(naively(novels));
  const prices = Array.from(sortedRows(orders, rowSet, 'price'), (each) => Number(rowSet.keys[each]));
  expect(prices.slice(0, 2)).toEqual(changes > ROWS ? [ROWS, ROWS - 1] : [changes + 1, changes + 2]);
});

it('drops the least recently used sets when all take too many bytes', () => {
  const kept = createKeptSets(0, 8_192);
  const { find, naively } = openBooks(kept);
  const query = (gte: number): BoolQuery =>
    all(term('genre', 'poem'), { kind: 'range', field: 'price', gte });
  for (let gte = 0; gte < 100; gte++) {
    expect(find(query(gte)).rows).toEqual(naively(query(gte)));
    expect(kept.bytes).toBeLessThanOrEqual(8_192);
  }
  const names = [...kept.sets.keys()].join();
  expect([kept.sets.size > 1, names.includes('"gte":99'), names.includes('"gte":0')]).toEqual([
    true,
    true,
    false,
  ]);
});

it('keeps no rows of a query of more than 4,096 characters, and tells numbers apart that JSON does not have', () => {
  const kept = createKeptSets(0);
  const { find } = openBooks(kept);
  find(all(term('genre', 'novel'), term('title', 'x'.repeat(4_097))));
  expect(kept.sets.size).toBe(0);
  const above = (gt: number) => all(term('genre', 'novel'), { kind: 'range', field: 'price', gt });
  expect(find(above(Number.POSITIVE_INFINITY)).rows).toEqual([]);
  expect(find(above(Number.NEGATIVE_INFINITY)).rows).toHaveLength(ROWS / 2);
  find(all(term('genre', 'novel'), { kind: 'exists', field: 'copies' }, term('copies', 2n ** 62n)));
  expect(kept.sets.size).toBe(3);
});

it('continues in the next slice, but not after a change', () => {
  const kept = createKeptSets(0);
  const { change, find, naively } = openBooks(kept);
  const query: BoolQuery = { kind: 'text', match: 'contains', field: 'title', value: 'itle', fold: true };
  const ends = { restsAt: 1, haltsAt: Number.POSITIVE_INFINITY, refusesAt: Number.POSITIVE_INFINITY };
  const inShortSlice = () => {
    let time = 0;
    const slice = { now: () => ++time, steps: 1, ...ends, refusal: () => new Error('refused') };
    return inSlice(slice, () => find(query));
  };
  expect(inShortSlice).toThrow(SLICE_OVER);
  change([{ ...book(1), row: null }, book(ROWS + 1)]);
  let slices = 0;
  for (let found: unknown; found === undefined; slices++) {
    try {
      found = inShortSlice();
    } catch (error) {
      if (error !== SLICE_OVER) throw error;
    }
  }
  expect(slices).toBeGreaterThan(3);
  expect(find(query).rows).toEqual(naively(query));
});
