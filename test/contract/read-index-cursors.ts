import { describe, expect, it } from 'vitest';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import type { SortKey, SortPosition } from '../../shared/read-index/read-index.ts';
import { BOOK, decode, TAG } from './read-index-library.ts';
import { by, exists, link, MATCH_ALL, type OpenIndex, openShelf, type Shelf } from './read-index-shelf.ts';

type Step = { readonly ids: readonly number[]; readonly next: SortPosition | null };

async function step(
  { index }: Shelf,
  sort: readonly SortKey[],
  after: SortPosition | null,
  { size = 2, query = MATCH_ALL }: { readonly size?: number; readonly query?: BoolQuery } = {},
): Promise<Step> {
  const { hits, next } = await index.search({
    type: BOOK,
    world: 'published',
    query,
    sort,
    from: 0,
    size,
    withTotal: false,
    cursor: { after },
  });
  if (next === undefined) throw new Error('a search by cursor says what comes next');
  return { ids: hits.sources.map((source) => decode(source).id), next };
}

async function walk(shelf: Shelf, sort: readonly SortKey[], query: BoolQuery = MATCH_ALL) {
  const ids: number[] = [];
  let after: SortPosition | null = null;
  do {
    const found: Step = await step(shelf, sort, after, { query });
    ids.push(...found.ids);
    after = found.next;
  } while (after !== null);
  return ids;
}

/** Creates seven books with ties and NULLs in every field. Their tags have weight 1 or NULL, and some books have no tag. */
async function openBooks(open: OpenIndex): Promise<Shelf> {
  const shelf = await openShelf(open);
  const values = [
    { title: 'b', copies: '9007199254740993', inPrint: true, price: 2.5 },
    { title: null, copies: '9007199254740992', inPrint: false, price: null },
    { title: 'a', copies: null, inPrint: null, price: 2.5 },
    { title: '\u{1F600}', copies: '-1', inPrint: true, price: -1 },
    { title: '\uFFFD', copies: null, inPrint: false, price: null },
    { title: null, copies: '9007199254740993', inPrint: null, price: 7 },
    { title: 'a', copies: '0', inPrint: true, price: 2.5 },
  ];
  await shelf.apply(
    [
      ...values.map((each, i) => shelf.put(BOOK, 'published', i + 1, { id: 70 - i * 10, ...each })),
      shelf.put(TAG, 'live', 21, { id: 1, weight: 1 }),
      shelf.put(TAG, 'live', 22, { id: 2, weight: null }),
      shelf.put(TAG, 'live', 23, { id: 3, weight: 4 }),
    ],
    [
      link(BOOK, 'tags', 1, 21),
      link(BOOK, 'tags', 1, 22),
      link(BOOK, 'tags', 2, 23),
      link(BOOK, 'tags', 5, 22),
      link(BOOK, 'tags', 7, 21),
    ],
  );
  return shelf;
}

export function describeCursors(open: OpenIndex): void {
  it.each<[string, readonly SortKey[]]>([
    ['id', []],
    ['a text', [by('title')]],
    ['a text, descending', [by('title', 'desc')]],
    ['64-bit integers', [by('copies', 'desc')]],
    ['a boolean', [by('inPrint'), by('price', 'desc')]],
    ['a number', [by('price'), by('title', 'desc')]],
    ['a to-many relation', [by('weight', 'asc', ['tags'])]],
    ['a to-many relation, descending', [by('weight', 'desc', ['tags']), by('title')]],
  ])('walks every row once, in the order of %s', async (_, sort) => {
    const shelf = await openBooks(open);
    const all = await shelf.ids(BOOK, MATCH_ALL, { sort });
    expect(all).toHaveLength(7);
    expect(await walk(shelf, sort)).toEqual(all);
    expect(await walk(shelf, sort, exists('price'))).toEqual(
      await shelf.ids(BOOK, exists('price'), { sort }),
    );
  });

  it('ends with null after the last row, also when it fills the page', async () => {
    const shelf = await openBooks(open);
    expect((await step(shelf, [], null, { size: 7 })).next).toBeNull();
    expect((await step(shelf, [], null, { size: 6 })).next).not.toBeNull();
    expect(await step(shelf, [], null, { query: { kind: 'match_none' } })).toEqual({ ids: [], next: null });
  });

  describe.each<[string, readonly SortKey[]]>([
    ['id', []],
    ['title', [by('title')]],
    ['tag weight', [by('weight', 'desc', ['tags'])]],
  ])('by %s', (_, sort) => {
    it('continues after a deleted row, and new rows cause no repetition and no gap', async () => {
      const shelf = await openBooks(open);
      const all = await shelf.ids(BOOK, MATCH_ALL, { sort });
      const first = await step(shelf, sort, null, { size: 3 });
      const gone = first.ids.at(-1) as number;
      await shelf.apply([
        shelf.drop(BOOK, 'published', (70 - gone) / 10 + 1),
        shelf.put(BOOK, 'published', 101, { id: 5, title: 'a', price: 0 }),
        shelf.put(BOOK, 'published', 102, { id: 35, title: null, price: 0 }),
        shelf.put(BOOK, 'published', 103, { id: 700, title: 'zz', price: 0 }),
      ]);
      const rest: number[] = [];
      let after = first.next;
      while (after !== null) {
        const found: Step = await step(shelf, sort, after);
        rest.push(...found.ids);
        after = found.next;
      }
      expect(rest.filter((id) => all.includes(id))).toEqual(all.slice(3));
      expect(new Set(rest).size).toBe(rest.length);
    });
  });
}
