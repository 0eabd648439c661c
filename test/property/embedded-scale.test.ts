import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { LinkChange, ReadIndex, RowChange, SortKey } from '../../shared/read-index/read-index.ts';
import { AUTHOR, BOOK, decode, libraryRegistry, row, type Values } from '../contract/read-index-library.ts';
import { by, link, MATCH_ALL, some, unlink } from '../contract/read-index-shelf.ts';
import { createBruteForceReadIndex } from '../support/brute-force-read-index.ts';
import { count } from '../support/takes-minutes.ts';

/** Enough rows for code that small histories never reach: dense postings, n-grams, runs of sorted rows, orders kept across writes. */
const BOOKS = 1500;
const AUTHORS = 60;
const ROUNDS = Math.ceil(Number(process.env['VARVE_PROPERTY_RUNS'] ?? count(200, 100)) / 100);
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 14);
const registry = libraryRegistry();

type Dice = { readonly below: (n: number) => number };

function book(dice: Dice, key: number, id: number): RowChange {
  const words = ['Golden', 'golden', 'Élan', 'Dragon', 'Door', 'ß', '\u{1F600}'];
  const title = `${words[dice.below(7)]} ${words[dice.below(7)]} ${dice.below(900)}`;
  // Some books share a title: one title is rare, the other has a few more rows than the index looks up one by one.
  const shared = dice.below(150) === 0 ? 'Few' : dice.below(40) === 0 ? 'Some' : title;
  const values: Values = {
    id,
    title: dice.below(20) === 0 ? null : shared,
    genre: ['novel', 'essay', 'poem'][dice.below(3)],
    pages: dice.below(15) === 0 ? null : dice.below(12),
    price: dice.below(10_000) / 100,
    copies: dice.below(9) === 0 ? null : String(2n ** 60n + BigInt(dice.below(2000))),
    inPrint: dice.below(2) === 0,
    soldAt: new Date(dice.below(2_000_000_000) * 1000).toISOString(),
  };
  return { type: BOOK, version: 'published', key, row: row(registry, BOOK, values) };
}

function author(dice: Dice, key: number): RowChange {
  const values = { id: key, name: dice.below(6) === 0 ? null : `name ${dice.below(40)}` };
  return { type: AUTHOR, version: 'published', key, row: row(registry, AUTHOR, values) };
}

const keysUpTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
const range = (field: string, gte: number, lt: number): BoolQuery => ({ kind: 'range', field, gte, lt });
const atLeast = (field: string, gte: number): BoolQuery => ({ kind: 'range', field, gte });
const below = (field: string, lt: number): BoolQuery => ({ kind: 'range', field, lt });
const text = (
  match: 'contains' | 'prefix' | 'suffix' | 'equals',
  field: string,
  value: string,
  fold: boolean,
): BoolQuery => ({
  kind: 'text',
  match,
  field,
  value,
  fold,
});

const QUERIES: readonly BoolQuery[] = [
  MATCH_ALL,
  { kind: 'term', field: 'genre', value: 'poem' },
  { kind: 'bool', must_not: [{ kind: 'term', field: 'genre', value: 'poem' }, range('pages', 2, 5)] },
  range('price', 20, 30),
  { kind: 'bool', filter: [range('price', 10, 90), { kind: 'term', field: 'pages', value: 7 }] },
  { kind: 'range', field: 'copies', gt: 2n ** 60n + 500n, lte: 2n ** 60n + 700n },
  { kind: 'range', field: 'title', gte: 'Dragon', lt: 'golden' },
  { kind: 'bool', filter: [atLeast('price', 20), { kind: 'bool', filter: [below('price', 60)] }] },
  {
    kind: 'bool',
    filter: [below('price', 70), atLeast('price', 5), atLeast('price', 15), atLeast('pages', 2)],
  },
  { kind: 'bool', filter: [atLeast('pages', 4)], should: [below('pages', 9), below('price', 10)] },
  { kind: 'terms', field: 'price', values: [1.25, 50, 99.99, 3.5] },
  { kind: 'exists', field: 'copies' },
  ...['d', 'go', 'dra', 'dragon 3', '\u{1F600} 1', 'ß', '12'].flatMap((needle) => [
    text('contains', 'title', needle, true),
    text('contains', 'title', needle, false),
  ]),
  text('prefix', 'title', 'Golden D', false),
  text('suffix', 'title', '99', true),
  text('equals', 'title', 'golden dragon 7', true),
  text('contains', 'price', '.25', false),
  text('prefix', 'soldAt', '1999-0', false),
  text('suffix', 'copies', '7', true),
];

const lookup = (title: string, ...others: BoolQuery[]): BoolQuery => ({
  kind: 'bool',
  filter: [...others, { kind: 'term', field: 'title', value: title }],
});
const POEM: BoolQuery = { kind: 'term', field: 'genre', value: 'poem' };

/** Queries that are answered with all their rows, so that every wrong row is found. */
const LOOKUPS: readonly BoolQuery[] = ['Few', 'Some', 'none has this'].flatMap((title) => [
  lookup(title),
  lookup(title, POEM),
  lookup(title, range('pages', 3, 9)),
  { ...lookup(title), must_not: [POEM] } as BoolQuery,
  { ...lookup(title, range('price', 20, 80)), must_not: [POEM, range('pages', 2, 5)] } as BoolQuery,
]);

const SORTS: readonly (readonly SortKey[])[] = [
  [],
  [by('title')],
  [by('pages', 'desc'), by('price')],
  [by('copies', 'desc')],
  [by('genre'), by('title', 'desc')],
];

async function answer(
  index: ReadIndex,
  query: BoolQuery,
  sort: readonly SortKey[],
  from: number,
  size: number,
) {
  const { total, hits } = await index.search({
    type: BOOK,
    world: 'published',
    query,
    sort,
    from,
    size,
    withTotal: true,
  });
  return { total, ids: hits.sources.map((source) => decode(source).id) };
}

async function expectSame(
  index: ReadIndex,
  expected: ReadIndex,
  dice: Dice,
  sorts: typeof SORTS,
  queries = QUERIES,
) {
  for (const query of queries) {
    const sort = sorts[dice.below(sorts.length)] as readonly SortKey[];
    const page = [query, sort, dice.below(3) * dice.below(400), 1 + dice.below(30)] as const;
    expect(await answer(index, ...page)).toEqual(await answer(expected, ...page));
  }
  for (const query of LOOKUPS) {
    const sort = sorts[dice.below(sorts.length)] as readonly SortKey[];
    const page = [query, sort, dice.below(2) * dice.below(5), 100] as const;
    expect(await answer(index, ...page)).toEqual(await answer(expected, ...page));
  }
}

function diceOf(seed: number): Dice {
  let state = seed;
  return {
    below: (n) => {
      state = (Math.imul(state, 1664525) + 1013904223) | 0;
      return Math.floor(((state >>> 8) / 2 ** 24) * n);
    },
  };
}

describe(`embedded index with ${BOOKS} rows (seed ${SEED}, ${ROUNDS} rounds)`, () => {
  it('answers like brute force while rows change', async () => {
    const property = fc.asyncProperty(fc.nat(), async (seed) => {
      const dice = diceOf(seed);
      const index = createEmbeddedIndex({
        registry,
        reuseOrdinalsAfter: dice.below(2) * 50,
        maxOrderedRows: 6000,
        keepSetsFrom: dice.below(2) * 3_000,
      });
      const naive = createBruteForceReadIndex(registry);
      let rows = keysUpTo(BOOKS).map((key) => book(dice, key, key));
      for (let position = 1n; position < 4n; position++) {
        for (const each of [index, naive]) await each.apply({ position, rows, links: [] });
        await expectSame(index, naive, dice, SORTS);
        rows = keysUpTo(1 + dice.below(2) * 90).map((i) => {
          const key = 1 + dice.below(BOOKS + 40);
          const gone = { type: BOOK, version: 'published', key, row: null } as const;
          return dice.below(3) === 0 ? gone : book(dice, key, BOOKS * Number(position) + i);
        });
      }
    });
    await fc.assert(property, { seed: SEED, numRuns: ROUNDS });
  });

  it('answers after many changes of rows and links like an index of the final state', async () => {
    const sorts = [
      [by('name', 'asc', ['author']), by('price')],
      [by('name', 'desc', ['author'])],
      [by('title', 'asc', ['author', 'books'])],
    ];
    const queries = [
      ...QUERIES,
      some('author', text('contains', 'name', '1', true)),
      some('author', some('books', range('pages', 0, 1))),
    ];
    const property = fc.asyncProperty(fc.nat(), async (seed) => {
      const dice = diceOf(seed);
      const state = { rows: new Map<string, RowChange>(), authorOf: new Map<number, number>() };
      const index = createEmbeddedIndex({
        registry,
        reuseOrdinalsAfter: 0,
        keepSetsFrom: dice.below(2) * 3_000,
      });
      for (let position = 1n; position < 8n; position++) {
        const { rows, links } =
          position === 1n ? firstBatch(dice, state) : laterBatch(dice, state, Number(position));
        await index.apply({ position, rows, links });
        const fresh = createEmbeddedIndex({ registry });
        const all = [...state.authorOf].map(([from, to]) => link(BOOK, 'author', from, to));
        await fresh.apply({ position, rows: [...state.rows.values()], links: all });
        await expectSame(index, fresh, dice, sorts, queries);
      }
    });
    await fc.assert(property, { seed: SEED, numRuns: ROUNDS });
  });
});

describe('small pages of many matches', () => {
  const many: readonly BoolQuery[] = [
    range('price', 10, 95),
    range('pages', 1, 11),
    { kind: 'exists', field: 'copies' },
    { kind: 'terms', field: 'pages', values: [0, 2, 3, 4, 7, 9] },
  ];

  it.each(SORTS)('are those of brute force, before and after changes', async (...sort) => {
    const dice = diceOf(SEED);
    const index = createEmbeddedIndex({ registry });
    const naive = createBruteForceReadIndex(registry);
    let rows = keysUpTo(3 * BOOKS).map((key) => book(dice, key, key));
    for (let position = 1n; position < 4n; position++) {
      for (const each of [index, naive]) await each.apply({ position, rows, links: [] });
      for (const query of many.flatMap((each) => [each, each, each, each])) {
        const page = [query, sort, dice.below(40), dice.below(6)] as const;
        expect(await answer(index, ...page)).toEqual(await answer(naive, ...page));
      }
      rows = keysUpTo(40).map((i) => book(dice, 1 + dice.below(BOOKS), 3 * BOOKS * Number(position) + i));
    }
  });
});

type LinkedState = { readonly rows: Map<string, RowChange>; readonly authorOf: Map<number, number> };

function remember(state: LinkedState, change: RowChange): RowChange {
  if (change.row !== null) state.rows.set(`${change.type} ${change.key}`, change);
  else {
    state.rows.delete(`${change.type} ${change.key}`);
    state.authorOf.delete(change.key);
  }
  return change;
}

function firstBatch(dice: Dice, state: LinkedState) {
  const rows = [
    ...keysUpTo(BOOKS).map((key) => book(dice, key, key)),
    ...keysUpTo(AUTHORS).map((key) => author(dice, key)),
  ].map((change) => remember(state, change));
  const links = keysUpTo(BOOKS - 100).map((key) => {
    const target = 1 + dice.below(AUTHORS);
    state.authorOf.set(key, target);
    return link(BOOK, 'author', key, target);
  });
  return { rows, links };
}

/** Returns a batch that changes, removes and adds some books, changes one author, and moves some books to other authors. */
function laterBatch(dice: Dice, state: LinkedState, position: number) {
  const rows = keysUpTo(1 + dice.below(12)).map((i) => {
    const key = 1 + dice.below(BOOKS);
    const gone = { type: BOOK, version: 'published', key, row: null } as const;
    return remember(state, dice.below(4) === 0 ? gone : book(dice, key, BOOKS * position + i));
  });
  rows.push(remember(state, author(dice, 1 + dice.below(AUTHORS))));
  const links = keysUpTo(dice.below(8)).flatMap((): LinkChange[] => {
    const source = 1 + dice.below(BOOKS);
    if (!state.rows.has(`${BOOK} ${source}`)) return [];
    const old = state.authorOf.get(source);
    const target = 1 + dice.below(AUTHORS);
    state.authorOf.set(source, target);
    return [
      ...(old === undefined ? [] : [unlink(BOOK, 'author', source, old)]),
      link(BOOK, 'author', source, target),
    ];
  });
  return { rows, links };
}
