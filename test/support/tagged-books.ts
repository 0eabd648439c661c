import fc from 'fast-check';
import {
  createEmbeddedIndex,
  type EmbeddedIndexOptions,
} from '../../shared/read-index/embedded/embedded-index.ts';
import type { ChangeBatch, ReadIndex, SearchRequest, SortKey } from '../../shared/read-index/read-index.ts';
import { BOOK, libraryRegistry, row, TAG } from '../contract/read-index-library.ts';
import { all, any, by, MATCH_ALL, not, some, term } from '../contract/read-index-shelf.ts';

const registry = libraryRegistry();
export const BOOKS = 900;
const TAGS = 90;

export function book(key: number, pages: number): ChangeBatch['rows'][number] {
  const values = { id: key, title: `book ${(key * 7919 + pages) % BOOKS}`, pages, genre: 'novel' };
  return { type: BOOK, version: 'published', key, row: row(registry, BOOK, values) };
}

export function tagging(source: number, n: number): ChangeBatch['links'][number] {
  const order = { sourceOrder: n, targetOrder: source };
  const target = ((source * 31 + n * 29) % TAGS) + 1;
  return { rowSet: { type: BOOK, path: [] }, attribute: 'tags', world: 'published', source, target, order };
}

/** Creates an index of books: each book has ten tags, and each tag a hundred books. */
export async function taggedBooks(options: Omit<EmbeddedIndexOptions, 'registry'> = {}): Promise<ReadIndex> {
  const index = createEmbeddedIndex({ registry, ...options });
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

export const QUERIES: readonly SearchRequest['query'][] = [
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

export const request = fc.record({
  type: fc.constant(BOOK),
  world: fc.constant('published' as const),
  query: fc.constantFrom(...QUERIES),
  sort: fc.constantFrom(...SORTS),
  from: fc.nat(60),
  size: fc.constant(20),
  withTotal: fc.constant(true),
});
