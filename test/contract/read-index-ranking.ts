import { expect, it } from 'vitest';
import type { SearchRequest, SortPosition } from '../../shared/read-index/read-index.ts';
import type { PlacedRules, RankKey, RankPlace, TextSearch } from '../../shared/read-index/text-search.ts';
import { BOOK, decode, TAG } from './read-index-library.ts';
import {
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
];

const IN_PRINT = term('inPrint', true);
const BY_PAGES: readonly RankKey[] = [{ path: [], field: 'pages', direction: 'desc-null-last' }];
const rules = (
  boosts: readonly (readonly [PlacedRules['boosts'][number]['query'], RankPlace])[],
  keysBefore: RankPlace = 'end',
): PlacedRules => ({
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

async function openBooks(open: OpenIndex): Promise<Shelf> {
  const shelf = await openShelf(open);
  await shelf.apply(
    [
      ...BOOKS.map(([title, pages, inPrint], at) =>
        shelf.put(BOOK, 'published', at + 1, { id: at + 1, title, pages, inPrint }),
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
    for (const [name, placed, expected] of CASES) {
      expect(await ids(request({}, placed)), name).toEqual({ ids: expected, total: 7, next: undefined });
      const page = await ids(request({}, placed, { from: 2, size: 3 }));
      expect(page, name).toEqual({ ids: expected.slice(2, 5), total: 7, next: undefined });
      const walked: unknown[] = [];
      let after: SortPosition | null = null;
      for (let pages = 0; pages < 4; pages++) {
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
      const asked = request({ query: 'heat zebra quartz bison walrus' }, placed);
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
  });
}
