import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SearchRequest, SearchResult } from '../../shared/read-index/read-index.ts';
import type { PlacedRules } from '../../shared/read-index/text-search.ts';
import { count } from '../support/takes-minutes.ts';
import { AUTHOR, BOOK, decode, TOWN, type Values } from './read-index-library.ts';
import {
  by,
  exists,
  link,
  MATCH_ALL,
  not,
  type OpenIndex,
  openShelf,
  type Shelf,
  some,
  term,
} from './read-index-shelf.ts';

/** Title and slug, by id from 1 on. */
const BOOKS: readonly (readonly [string, string | null])[] = [
  ['red knife', 'k'],
  ['blue knife', 'k'],
  ['knife', null],
  ['knife fork', 'f'],
  ['knife', null],
  ['spoon', 'f'],
];

const TEXT = { query: 'knife ', locales: ['en'], typoTolerance: true, isRanked: true } as const;

/** Requests, and the ids, the groups and the number of groups that they lead to. */
const CASES: readonly (readonly [
  string,
  Partial<SearchRequest>,
  readonly number[],
  readonly string[],
  number,
])[] = [
  ['the first of each', { text: TEXT }, [1, 3, 4, 5], ['k 2 1', 'null 1 1', 'f 1 1', 'null 1 1'], 4],
  [
    'the first two of each',
    { text: TEXT, groups: { field: 'slug', limit: 2 } },
    [1, 2, 3, 4, 5],
    ['k 2 2', 'null 1 1', 'f 1 1', 'null 1 1'],
    4,
  ],
  ['a page', { text: TEXT, from: 1, size: 2 }, [3, 4], ['null 1 1', 'f 1 1'], 4],
  ['no page', { text: TEXT, size: 0 }, [], [], 4],
  ['a page behind all', { text: TEXT, from: 9 }, [], [], 4],
  [
    'a sort, without words',
    { sort: [by('title', 'desc')] },
    [6, 1, 3, 5],
    ['f 2 1', 'k 2 1', 'null 1 1', 'null 1 1'],
    4,
  ],
  ['a filter', { query: term('id', 2) }, [2], ['k 1 1'], 1],
  ['nothing found', { query: term('id', 9) }, [], [], 0],
];

async function filled(open: OpenIndex): Promise<Shelf> {
  const shelf = await openShelf(open);
  await shelf.apply(
    BOOKS.map(([title, slug], at) => shelf.put(BOOK, 'published', at + 1, { id: at + 1, title, slug })),
  );
  return shelf;
}

const WORDS = ['heat layer', 'heat layers', 'heat lawer', 'heat of a layer', 'heat', 'zebra'] as const;
const GENRES = ['novel', null, 'essay', 'poem', 'novel'] as const;

/** 30 books by three authors in three towns. Each has the next one but two as its sequel. */
async function openMany(open: OpenIndex): Promise<Shelf> {
  const shelf = await openShelf(open);
  const ids = Array.from({ length: 30 }, (_, at) => at + 1);
  const books = ids.map((id) =>
    shelf.put(BOOK, 'published', id, {
      id,
      documentId: `doc-${id % 17}`,
      title: WORDS[(id * 7) % WORDS.length],
      genre: GENRES[(id * 3) % GENRES.length],
      slug: id % 4 === 0 ? null : `family-${(id * id) % 11}`,
      pages: id % 6 === 0 ? null : (id * 5) % 8,
      inPrint: id % 3 === 0,
    }),
  );
  const people = [1, 2, 3].flatMap((id) => [
    shelf.put(AUTHOR, 'published', id, { id, name: `author ${4 - id}` }),
    shelf.put(TOWN, 'live', id, { id, name: `town ${(id * 2) % 3}` }),
  ]);
  await shelf.apply(
    [...books, ...people],
    [
      ...ids.map((id) => link(BOOK, 'author', id, (id % 3) + 1)),
      ...ids.slice(3).map((id) => link(BOOK, 'sequel', id - 3, id)),
      ...[1, 2, 3].map((id) => link(AUTHOR, 'home', id, id)),
    ],
  );
  return shelf;
}

const IN_PRINT = term('inPrint', true);
const placed = (
  before: PlacedRules['keysBefore'],
  { boosts = [], pinned = [] }: Partial<Pick<PlacedRules, 'boosts' | 'pinned'>> = {},
): PlacedRules => ({
  ...{ boosts, pinned },
  keys: [{ path: [], field: 'pages', direction: 'desc-null-last' }],
  keysBefore: before,
});
const PLACED = [
  undefined,
  placed('end', { pinned: ['doc-7', 'doc-9'] }),
  placed('typos'),
  placed('distance', { boosts: [{ query: IN_PRINT, before: 'distance' }], pinned: ['doc-3'] }),
];
const TEXTS = [
  undefined,
  TEXT,
  { ...TEXT, isRanked: false },
  ...PLACED.map((rules) => ({ ...TEXT, query: 'heat layer ', ...(rules && { placed: rules }) })),
  { ...TEXT, query: 'heat layer xylophone ' },
];
const SORTS = [
  [],
  [by('pages', 'desc')],
  [by('name', 'asc', ['author']), by('title')],
  [by('name', 'desc', ['sequel', 'author', 'home'])],
];
const QUERIES = [MATCH_ALL, IN_PRINT, not(exists('genre')), some('sequel', IN_PRINT)];

const requests = fc.record({
  field: fc.constantFrom('slug', 'genre', 'documentId'),
  limit: fc.integer({ min: 1, max: 3 }),
  page: fc.record({ from: fc.nat(8), size: fc.nat(8), withTotal: fc.boolean() }),
  query: fc.constantFrom(...QUERIES),
  sort: fc.constantFrom(...SORTS),
  text: fc.constantFrom(...TEXTS),
});

/** Groups the hits of a search without groups by definition. */
function naiveGroups({ hits }: SearchResult, field: string) {
  const rows = hits.sources.map((source) => decode(source) as Values);
  const valueIn = (row: Values) => (row[field] ?? null) as string | null;
  const firsts = rows.filter(
    (row, at) => valueIn(row) === null || rows.findIndex((each) => valueIn(each) === valueIn(row)) === at,
  );
  return firsts.map((first) => {
    const value = valueIn(first);
    return { value, rows: value === null ? [first] : rows.filter((row) => valueIn(row) === value) };
  });
}

/** Tests groups of the found rows. */
export function describeGroups(open: OpenIndex): void {
  it('groups all found rows by a value, with their numbers, and pages count groups', async () => {
    const shelf = await filled(open);
    for (const [name, asked, ids, groups, total] of CASES) {
      const found = await shelf.index.search({
        ...{ type: BOOK, world: 'published', query: MATCH_ALL, sort: [], from: 0, size: 10, withTotal: true },
        groups: { field: 'slug', limit: 1 },
        ...asked,
      });
      expect(
        found.hits.sources.map((source) => decode(source).id),
        name,
      ).toEqual(ids);
      const shown = found.groups?.map(({ value, count, hits }) => `${value} ${count} ${hits}`);
      expect(shown, name).toEqual(groups);
      expect(found.total, name).toBe(total);
    }
  });

  it('counts the values of facets over all rows, and not over groups', async () => {
    const shelf = await filled(open);
    const { facets } = await shelf.index.search({
      ...{ type: BOOK, world: 'published', query: MATCH_ALL, sort: [], from: 0, size: 10, withTotal: true },
      groups: { field: 'slug', limit: 1 },
      facets: [{ path: [], field: 'slug', type: 'uid', limit: 10 }],
    });
    expect(facets?.[0]?.values.map(({ value, count }) => `${value} ${count}`)).toEqual(['f 2', 'k 2']);
  });

  it('groups the rows of any search as a naive grouping of all its rows does', async () => {
    const { index } = await openMany(open);
    const property = fc.asyncProperty(requests, async ({ field, limit, page, text, ...rest }) => {
      const asked: SearchRequest = {
        ...{ type: BOOK, world: 'published', ...rest, ...(text && { text }) },
        ...{ from: 0, size: 100, withTotal: true },
      };
      const { from, size, withTotal } = page;
      const groups = naiveGroups(await index.search(asked), field);
      const shown = groups.slice(from, from + size);
      const found = await index.search({ ...asked, ...page, groups: { field, limit } });
      const rows = shown.flatMap((group) => group.rows.slice(0, limit));
      expect(found.hits.sources.map((source) => decode(source).id)).toEqual(rows.map(({ id }) => id));
      expect(found.groups).toEqual(
        shown.map(({ value, rows: { length } }) => ({ value, count: length, hits: Math.min(length, limit) })),
      );
      expect(found.total).toBe(withTotal ? groups.length : undefined);
    });
    await fc.assert(property, { numRuns: count(25, 10) });
  });

  it('groups long texts by the whole text, and cuts the value of a group', async () => {
    const shelf = await openShelf(open);
    const long = 'x'.repeat(40_000);
    const slugs = [`${long}a`, `${long}b`, `${long}a`];
    await shelf.apply(slugs.map((slug, at) => shelf.put(BOOK, 'published', at + 1, { id: at + 1, slug })));
    const { groups } = await shelf.index.search({
      ...{ type: BOOK, world: 'published', query: MATCH_ALL, sort: [], from: 0, size: 10, withTotal: true },
      groups: { field: 'slug', limit: 1 },
    });
    const value = long.slice(0, 1_000);
    expect(groups).toEqual([
      { value, count: 2, hits: 1 },
      { value, count: 1, hits: 1 },
    ]);
  });
}
