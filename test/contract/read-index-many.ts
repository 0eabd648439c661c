import { expect, it } from 'vitest';
import type { FacetRequest } from '../../shared/read-index/facets.ts';
import type { SearchRequest, SearchResult } from '../../shared/read-index/read-index.ts';
import type { TextSearch } from '../../shared/read-index/text-search.ts';
import { AUTHOR, BOOK, decode, PAGE } from './read-index-library.ts';
import {
  all,
  any,
  by,
  link,
  MATCH_ALL,
  not,
  type OpenIndex,
  openShelf,
  some,
  term,
} from './read-index-shelf.ts';

const GENRE: FacetRequest = { path: [], field: 'genre', type: 'enumeration', limit: 10 };
const AUTHORS: FacetRequest = { path: ['author'], field: 'name', type: 'string', limit: 10 };

const text = (query: string, more: Partial<TextSearch> = {}): TextSearch => ({
  ...{ query, locales: ['en'], typoTolerance: true, isRanked: true },
  ...more,
});

const request = (asked: Partial<SearchRequest>): SearchRequest => ({
  ...{ type: BOOK, world: 'published', query: MATCH_ALL, sort: [], from: 0, size: 10, withTotal: true },
  ...asked,
});

const [poem, long, byAnn] = [term('genre', 'poem'), term('pages', 9), some('author', term('name', 'Ann'))];
const heat = text('heat layer');
/** Searches of a search box with three refined facets, and of every other kind that one request may have. */
const REQUESTS: readonly SearchRequest[] = [
  request({ query: all(poem, long, byAnn), text: heat, facets: [GENRE, AUTHORS] }),
  request({ query: all(long, byAnn), text: heat, facets: [GENRE], size: 0 }),
  request({ query: all(poem, byAnn), text: heat, facets: [AUTHORS], size: 0 }),
  request({ query: all(poem, long), text: heat, facets: [AUTHORS], size: 0 }),
  // No row that passes this filter has both words.
  request({ query: all(term('genre', 'essay'), byAnn), text: heat, facets: [AUTHORS] }),
  request({ query: all(not(poem), any(long, byAnn)), text: heat }),
  request({ text: text('heat layr', { isRanked: false }), sort: [by('pages', 'desc')] }),
  request({ text: text('heat layr', { typoTolerance: false }) }),
  request({ text: text('heat', { fields: new Set(['body']) }) }),
  request({ text: heat, size: 1, cursor: { after: null } }),
  request({ text: heat, world: 'draft' }),
  request({ query: poem }),
  request({ query: poem, facets: [GENRE], withTotal: false, from: 1 }),
  request({ type: AUTHOR, sort: [by('name')] }),
  request({ type: PAGE, text: text('heat', { locales: ['fr'] }) }),
  request({ type: PAGE, text: text('heat', { locales: 'all' }) }),
];

/** Returns a result without its opaque parts, and with the ids of its rows. */
const said = ({ hits, ...result }: SearchResult) => ({
  ...result,
  ids: hits.sources.map((each) => decode(each).id),
});

/** Tests several searches in one answer. */
export function describeMany(open: OpenIndex): void {
  it('answers each of several searches as if it were alone', async () => {
    const shelf = await openShelf(open);
    const books = [
      { title: 'heat layer', genre: 'poem', pages: 9 },
      { title: 'layer and heat', genre: 'poem', pages: 8 },
      { title: 'heat', body: 'heat layers', genre: 'essay', pages: 9 },
      { title: 'heat', genre: 'essay', pages: 7 },
      { title: 'layer heat', genre: 'novel', pages: 9 },
      { title: 'nothing', genre: 'poem', pages: 9 },
    ];
    await shelf.apply(
      [
        shelf.put(AUTHOR, 'published', 1, { id: 1, name: 'Ann' }),
        shelf.put(AUTHOR, 'published', 2, { id: 2, name: 'Bea' }),
        ...books.map((book, at) => shelf.put(BOOK, 'published', at + 1, { id: at + 1, ...book })),
        shelf.put(BOOK, 'draft', 21, { id: 21, title: 'heat layer' }),
        shelf.put(PAGE, 'published', 1, { id: 1, locale: 'fr', title: 'heat' }),
        shelf.put(PAGE, 'published', 2, { id: 2, locale: 'en', title: 'heat' }),
      ],
      [
        ...[1, 2, 4].map((book) => link(BOOK, 'author', book, 1)),
        ...[3, 5, 6].map((book) => link(BOOK, 'author', book, 2)),
      ],
    );
    const alone: unknown[] = [];
    for (const each of REQUESTS) alone.push(said(await shelf.index.search(each)));
    const together = await shelf.index.searchMany(REQUESTS);
    expect(together.map(said)).toEqual(alone);
    expect(together.slice(0, 6).map(({ total }) => total)).toEqual([1, 1, 2, 1, 1, 2]);
  });

  it('answers an empty list of searches', async () => {
    const shelf = await openShelf(open);
    expect(await shelf.index.searchMany([])).toEqual([]);
  });
}
