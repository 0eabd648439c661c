import { expect, it } from 'vitest';
import type { SearchRequest, SortPosition } from '../../shared/read-index/read-index.ts';
import type { PlacedRules, RankKey, RankPlace, TextSearch } from '../../shared/read-index/text-search.ts';
import { BOOK, decode, TAG } from './read-index-library.ts';
import {
  by,
  link,
  MATCH_ALL,
  not,
  type OpenIndex,
  openShelf,
  type Shelf,
  some,
  term,
} from './read-index-shelf.ts';

/** Title, pages and whether the book is in print, by id from 1 on. Book 4 has the tag `new`. */
const BOOKS: readonly (readonly [string, number | null, boolean])[] = [
  ['heat layer', 1, false],
  ['heat layer', 3, true],
  ['heat of a layer', 2, true],
  ['heat layers', 9, true],
  ['heat lawer', 5, true],
  ['heat layer', null, false],
  ['heat of a lawer', 7, false],
  ['zebra', 8, true],
];

const IN_PRINT = term('inPrint', true);
const BY_PAGES: readonly RankKey[] = [{ path: [], field: 'pages', direction: 'desc-null-last' }];
const rules = (
  boosts: readonly (readonly [PlacedRules['boosts'][number]['query'], RankPlace])[],
  keysBefore: RankPlace = 'end',
  pinned: readonly number[] = [],
): PlacedRules => ({
  pinned: pinned.map((id) => `doc-${id}`),
  boosts: boosts.map(([query, before]) => ({ query, before })),
  keys: keysBefore === 'end' ? [] : BY_PAGES,
  keysBefore,
});

/** Rules, and the ids that they lead to. Without rules: 1, 2 and 6 are as typed, 4 has another form, 3 is apart, 5 and 7 have a typo. */
const CASES: readonly (readonly [string, PlacedRules | undefined, readonly number[]])[] = [
  ['no rules', undefined, [1, 2, 6, 4, 3, 5, 7]],
  ['a boost after the tiers', rules([[IN_PRINT, 'end']]), [2, 1, 6, 4, 3, 5, 7]],
  ['a boost before exact words', rules([[IN_PRINT, 'exact']]), [2, 4, 1, 6, 3, 5, 7]],
  ['a boost before weights', rules([[IN_PRINT, 'weight']]), [2, 4, 1, 6, 3, 5, 7]],
  ['a boost before distance', rules([[IN_PRINT, 'distance']]), [2, 4, 3, 1, 6, 5, 7]],
  ['a boost before typos', rules([[IN_PRINT, 'typos']]), [2, 4, 3, 5, 1, 6, 7]],
  [
    'a boost through a relation',
    rules([[some('tags', term('name', 'new')), 'typos']]),
    [4, 1, 2, 6, 3, 5, 7],
  ],
  ['a boost by what is not true', rules([[not(IN_PRINT), 'typos']]), [1, 6, 7, 2, 4, 3, 5]],
  [
    'two boosts at one place, in their order',
    rules([
      [IN_PRINT, 'typos'],
      [some('tags', term('name', 'new')), 'typos'],
    ]),
    [4, 2, 3, 5, 1, 6, 7],
  ],
  [
    'two boosts at two places',
    rules([
      [IN_PRINT, 'end'],
      [some('tags', term('name', 'new')), 'distance'],
    ]),
    [4, 2, 1, 6, 3, 5, 7],
  ],
  ['an attribute before exact words', rules([], 'exact'), [4, 2, 1, 6, 3, 7, 5]],
  ['an attribute before weights', rules([], 'weight'), [4, 2, 1, 6, 3, 7, 5]],
  ['an attribute before distance', rules([], 'distance'), [4, 2, 3, 1, 6, 7, 5]],
  ['an attribute before typos', rules([], 'typos'), [4, 7, 5, 2, 3, 1, 6]],
  ['a boost and an attribute before typos', rules([[IN_PRINT, 'typos']], 'typos'), [4, 5, 2, 3, 7, 1, 6]],
  [
    'a boost and an attribute before distance',
    rules([[IN_PRINT, 'distance']], 'distance'),
    [4, 2, 3, 1, 6, 5, 7],
  ],
  [
    'a boost before and an attribute after typos',
    rules([[IN_PRINT, 'typos']], 'distance'),
    [4, 2, 3, 5, 1, 6, 7],
  ],
  [
    'a boost after and an attribute before distance',
    rules([[IN_PRINT, 'end']], 'distance'),
    [4, 2, 3, 1, 6, 7, 5],
  ],
];

/** Pinned documents, and the ids that they lead to. Book 8 has none of the words. */
const PINNED: readonly (readonly [string, PlacedRules, readonly number[]])[] = [
  ['documents', rules([], 'end', [7, 8, 4]), [7, 8, 4, 1, 2, 6, 3, 5]],
  ['a document that is not there', rules([], 'end', [99, 6]), [6, 1, 2, 4, 3, 5, 7]],
  ['documents before a boost', rules([[IN_PRINT, 'typos']], 'end', [7]), [7, 2, 4, 3, 5, 1, 6]],
  ['documents before an attribute', rules([], 'typos', [6, 8]), [6, 8, 4, 7, 5, 2, 3, 1]],
  [
    'documents before a boost and an attribute',
    rules([[IN_PRINT, 'distance']], 'distance', [5, 8]),
    [5, 8, 4, 2, 3, 1, 6, 7],
  ],
  ['documents before the exact words', rules([], 'exact', [8, 7]), [8, 7, 4, 2, 1, 6, 3, 5]],
];

async function openBooks(open: OpenIndex): Promise<Shelf> {
  const shelf = await openShelf(open);
  await shelf.apply(
    [
      ...BOOKS.map(([title, pages, inPrint], at) =>
        shelf.put(BOOK, 'published', at + 1, {
          id: at + 1,
          documentId: `doc-${at + 1}`,
          title,
          pages,
          inPrint,
        }),
      ),
      shelf.put(TAG, 'live', 1, { id: 1, name: 'new' }),
    ],
    [link(BOOK, 'tags', 4, 1)],
  );
  return shelf;
}

function request(
  text: Partial<TextSearch>,
  placed: PlacedRules | undefined,
  more: Partial<SearchRequest> = {},
): SearchRequest {
  return {
    ...{ type: BOOK, world: 'published', query: MATCH_ALL, sort: [], from: 0, size: 100, withTotal: true },
    text: {
      ...{ query: 'heat layer ', locales: ['en'], typoTolerance: true, isRanked: true, ...text },
      ...(placed && { placed }),
    },
    ...more,
  };
}

/** Tests the owner's rules for the order of a search. */
export function describeRanking(open: OpenIndex): void {
  it('orders rows by the rules of every place, on pages and by cursor', async () => {
    const shelf = await openBooks(open);
    const ids = async (asked: SearchRequest) => {
      const { hits, total, next } = await shelf.index.search(asked);
      return { ids: hits.sources.map((source) => decode(source).id), total, next };
    };
    for (const [name, placed, expected] of [...CASES, ...PINNED]) {
      const total = expected.length;
      expect(await ids(request({}, placed)), name).toEqual({ ids: expected, total, next: undefined });
      const page = await ids(request({}, placed, { from: 2, size: 3 }));
      expect(page, name).toEqual({ ids: expected.slice(2, 5), total, next: undefined });
      const walked: unknown[] = [];
      let after: SortPosition | null = null;
      for (let pages = 0; pages < 5; pages++) {
        const found = await ids(request({}, placed, { size: 2, cursor: { after } }));
        walked.push(...found.ids);
        after = found.next ?? null;
        if (after === null) break;
      }
      expect(walked, name).toEqual(expected);
    }
  });

  it('counts boosts of a question before its score only, and an attribute before or after the score', async () => {
    const shelf = await openBooks(open);
    const ids = async (placed: PlacedRules | undefined) => {
      const asked = request({ query: 'heat quartz bison walrus camel' }, placed);
      return (await shelf.index.search(asked)).hits.sources.map((source) => decode(source).id);
    };
    const plain = await ids(undefined);
    expect(plain).toHaveLength(7);
    const first = new Set((await ids(rules([[IN_PRINT, 'typos']]))).slice(0, 4));
    expect(first).toEqual(new Set([2, 3, 4, 5]));
    expect(await ids(rules([[IN_PRINT, 'end']]))).toEqual(plain);
    expect(await ids(rules([], 'typos'))).toEqual([4, 7, 5, 2, 3, 1, 6]);
    // Books with two words have the same score.
    const equal = (found: readonly unknown[]) => found.filter((id) => id !== 3 && id !== 7);
    expect(equal(await ids(rules([], 'exact')))).toEqual([4, 5, 2, 1, 6]);
    expect((await ids(rules([[IN_PRINT, 'typos']], 'typos'))).slice(0, 4)).toEqual([4, 5, 2, 3]);
    expect(await ids(rules([], 'typos', [8, 6]))).toEqual([8, 6, 4, 7, 5, 2, 3, 1]);
  });

  it('keeps pinned documents within the filter, and out of other orders and of searches without words', async () => {
    const shelf = await openBooks(open);
    const placed = rules([], 'end', [8, 7]);
    const ids = async (asked: SearchRequest) => {
      const { hits, text, facets } = await shelf.index.search(asked);
      return { ids: hits.sources.map((source) => decode(source).id), text, facets };
    };
    expect((await ids(request({}, placed, { query: IN_PRINT }))).ids).toEqual([8, 2, 4, 3, 5]);
    const beforeKeys = await ids(request({}, { ...placed, keys: BY_PAGES }));
    expect(beforeKeys.ids).toHaveLength(8);
    expect(beforeKeys.ids.slice(0, 2)).toEqual([8, 7]);
    const byId = { sort: [by('id', 'desc')] };
    expect((await ids(request({ isRanked: false }, placed, byId))).ids).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect((await ids(request({ query: '+++' }, placed))).ids).toEqual([]);
    // Words that no document has are omitted as without pinned documents.
    const dropped = await ids(request({ query: 'heat layer xylophone ' }, placed));
    expect(dropped.ids).toEqual([8, 7, 1, 2, 6, 4, 3, 5]);
    expect(dropped.text?.terms.get('en')?.map(({ typed }) => typed)).toEqual(['heat', 'layer']);
    expect((await ids(request({ query: 'xylophone ' }, placed))).ids).toEqual([8, 7]);
    const counted = request({}, placed, {
      facets: [{ path: [], field: 'inPrint', type: 'boolean', limit: 5 }],
    });
    expect((await ids(counted)).facets?.[0]?.values).toEqual([
      { value: 'true', count: 5 },
      { value: 'false', count: 3 },
    ]);
  });
}
