import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import { QueryTooExpensive } from '../../shared/read-index/query-too-expensive.ts';
import type { ChangeBatch, ReadIndex, SearchRequest, SortKey } from '../../shared/read-index/read-index.ts';
import { BOOK, libraryRegistry, row, TAG } from '../contract/read-index-library.ts';
import { all, any, by, MATCH_ALL, not, some, term } from '../contract/read-index-shelf.ts';

const registry = libraryRegistry();
const BOOKS = 900;
const TAGS = 90;

function book(key: number, pages: number): ChangeBatch['rows'][number] {
  const values = { id: key, title: `book ${(key * 7919 + pages) % BOOKS}`, pages, genre: 'novel' };
  return { type: BOOK, version: 'published', key, row: row(registry, BOOK, values) };
}

function tagging(source: number, n: number): ChangeBatch['links'][number] {
  const order = { sourceOrder: n, targetOrder: source };
  const target = ((source * 31 + n * 29) % TAGS) + 1;
  return { space: { type: BOOK, path: [] }, attribute: 'tags', world: 'published', source, target, order };
}

/** Each book has ten tags and each tag a hundred books. */
async function library(queryTimeLimit?: number): Promise<ReadIndex> {
  const index = createEmbeddedIndex({
    registry,
    ...(queryTimeLimit === undefined ? {} : { queryTimeLimit }),
  });
  const keys = Array.from({ length: BOOKS }, (_, i) => i + 1);
  const tags = keys.slice(0, TAGS).map((key) => ({
    type: TAG,
    version: 'live' as const,
    key,
    row: row(registry, TAG, { id: key, name: `tag ${key % 40}`, weight: key / 7 }),
  }));
  const links = keys.flatMap((key) => Array.from({ length: 10 }, (_, n) => tagging(key, n)));
  await index.apply({ position: 1n, rows: [...keys.map((key) => book(key, key % 700)), ...tags], links });
  return index;
}

const QUERIES: readonly SearchRequest['query'][] = [
  MATCH_ALL,
  { kind: 'range', field: 'pages', gt: 100, lt: 600 },
  { kind: 'text', match: 'contains', field: 'title', value: '7', fold: true },
  { kind: 'text', match: 'contains', field: 'pages', value: '7', fold: true },
  some('tags', term('name', 'tag 7')),
  all(some('tags', some('books', some('tags', term('name', 'tag 8')))), term('genre', 'novel')),
  all(some('tags', { kind: 'range', field: 'weight', gt: 3 }), not(some('tags', term('name', 'tag 3')))),
  any(some('tags', not(some('books', term('pages', 30)))), term('pages', 31)),
];
const SORTS: readonly (readonly SortKey[])[] = [
  [],
  [by('title')],
  [by('pages', 'desc'), by('title')],
  [by('weight', 'desc', ['tags'])],
  [by('pages', 'asc', ['tags', 'books'])],
];

const request = fc.record({
  type: fc.constant(BOOK),
  world: fc.constant('published' as const),
  query: fc.constantFrom(...QUERIES),
  sort: fc.constantFrom(...SORTS),
  from: fc.nat(60),
  size: fc.constant(20),
  withTotal: fc.constant(true),
});

const page = { type: BOOK, world: 'published', query: QUERIES[5] ?? MATCH_ALL, sort: [], from: 0 } as const;
const tags = { space: { type: BOOK, path: [] }, world: 'published', attribute: 'tags' } as const;
/** Of any machine: the first look at the clock is after it. */
const INSTANT = 1e-6;

it('refuses what takes longer than the limit, and says what is accepted', async () => {
  const index = await library(INSTANT);
  const refused = expect.objectContaining({
    status: 400,
    message: 'Invalid query: it takes more than 0.000001 ms to answer',
    details: expect.objectContaining({ accepted: expect.stringContaining('at most 0.000001 ms') }),
  });
  const answer = {};
  await expect(index.search({ ...page, size: 1, withTotal: true, answer })).rejects.toEqual(refused);
});

it('counts all searches and follows of an answer together, and those of another answer anew', async () => {
  const index = await library(INSTANT);
  const [one, other] = [{}, {}];
  // One row's links are followed before the clock is looked at.
  const follow = { ...tags, parents: [0], limit: 10 };
  await index.follow({ ...follow, answer: one });
  await expect(index.follow({ ...follow, answer: one })).rejects.toBeInstanceOf(QueryTooExpensive);
  await expect(index.search({ ...page, size: 1, withTotal: true, answer: one })).rejects.toBeInstanceOf(
    QueryTooExpensive,
  );
  expect((await index.follow({ ...follow, answer: other })).counts).toEqual([10]);
});

it('answers as ever after queries that were stopped, wherever they were stopped', async () => {
  const step = fc.record({
    request,
    written: fc.array(fc.tuple(fc.integer({ min: 1, max: BOOKS }), fc.nat(700)), { maxLength: 8 }),
    tagged: fc.array(fc.tuple(fc.integer({ min: 1, max: BOOKS }), fc.nat(40)), { maxLength: 4 }),
  });
  let stopped = 0;
  for (const limit of [INSTANT, 0.05, 0.3, 1]) {
    const [limited, unlimited] = [await library(limit), await library()];
    const ask = async (search: SearchRequest): Promise<boolean> => {
      try {
        expect(await limited.search(search)).toEqual(await unlimited.search(search));
        return true;
      } catch (error) {
        if (!(error instanceof QueryTooExpensive)) throw error;
        stopped++;
        return false;
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        for (const { request: search, written, tagged } of steps) {
          const rows = written.map(([key, pages]) => book(key, pages));
          const batch = { position: 1n, rows, links: tagged.map(([key, n]) => tagging(key, n)) };
          await limited.apply(batch);
          await unlimited.apply(batch);
          // What was stopped leaves more of its work done with each try, or is stopped again.
          for (let tries = 0; tries < 3 && !(await ask(search)); tries++);
        }
      }),
      { numRuns: Number(process.env['VARVE_PROPERTY_RUNS'] ?? 100) / 4 },
    );
  }
  expect(stopped).toBeGreaterThan(10);
});
