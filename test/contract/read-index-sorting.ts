import { describe, expect, it } from 'vitest';
import { AUTHOR, BOOK, TAG, TOWN, type Values } from './read-index-library.ts';
import {
  by,
  exists,
  link,
  MATCH_ALL,
  type OpenIndex,
  openShelf,
  type Shelf,
  term,
  unlink,
} from './read-index-shelf.ts';

async function books(open: OpenIndex, values: readonly Omit<Values, 'id'>[]): Promise<Shelf> {
  const shelf = await openShelf(open);
  await shelf.apply(values.map((each, i) => shelf.put(BOOK, 'published', i + 1, { id: i + 1, ...each })));
  return shelf;
}

export function describeSorting(open: OpenIndex): void {
  it('sorts by ascending id by default, for any order of arrival', async () => {
    const shelf = await openShelf(open);
    await shelf.apply([
      shelf.put(BOOK, 'published', 1, { id: 30 }),
      shelf.put(BOOK, 'published', 2, { id: 10 }),
      shelf.put(BOOK, 'published', 3, { id: 20 }),
    ]);
    expect(await shelf.ids(BOOK, MATCH_ALL)).toEqual([10, 20, 30]);
    expect(await shelf.ids(BOOK, exists('id'), { from: 1, size: 1 })).toEqual([20]);
  });

  it('moves a republished row, which gets a new id, to the end', async () => {
    const shelf = await books(open, [{}, {}, {}]);
    expect(await shelf.ids(BOOK, MATCH_ALL)).toEqual([1, 2, 3]);
    await shelf.apply([shelf.put(BOOK, 'published', 1, { id: 4 })]);
    expect(await shelf.ids(BOOK, MATCH_ALL)).toEqual([2, 3, 4]);
    expect(await shelf.ids(BOOK, term('id', 1))).toEqual([]);
    await shelf.apply([shelf.put(BOOK, 'published', 9, { id: 5 }), shelf.drop(BOOK, 'published', 2)]);
    expect(await shelf.ids(BOOK, MATCH_ALL)).toEqual([3, 4, 5]);
  });

  it('sorts NULL after every value: last when ascending, first when descending', async () => {
    const shelf = await books(open, [{ pages: 5 }, {}, { pages: -5 }, {}, { pages: 500 }]);
    expect(await shelf.ids(BOOK, MATCH_ALL, { sort: [by('pages')] })).toEqual([3, 1, 5, 2, 4]);
    expect(await shelf.ids(BOOK, MATCH_ALL, { sort: [by('pages', 'desc')] })).toEqual([2, 4, 5, 1, 3]);
  });

  it('breaks ties by the next key and finally by ascending id, in both directions', async () => {
    const shelf = await books(open, [
      { genre: 'poem', pages: 1 },
      { genre: 'essay', pages: 2 },
      { genre: 'poem', pages: 3 },
      { genre: 'essay', pages: 2 },
    ]);
    const sort = [by('genre', 'desc'), by('pages', 'desc')];
    expect(await shelf.ids(BOOK, MATCH_ALL, { sort })).toEqual([3, 1, 2, 4]);
    expect(await shelf.ids(BOOK, MATCH_ALL, { sort: [by('genre')] })).toEqual([2, 4, 1, 3]);
  });

  it.each([
    ['title', ['', 'Z', 'a', 'ab', 'é', '\uD7FF', '\uFFFD', '\u{1F600}']],
    ['inPrint', [false, true]],
    ['copies', ['-1', '9007199254740992', '9007199254740993', '9223372036854775807']],
    ['price', [-1, 0, 0.5, 10]],
    ['weight', [-1e300, 1e-7, 3]],
    ['released', ['1969-07-20', '2000-01-01']],
    ['opensAt', ['00:00:00', '08:30:00', '08:30:00.500']],
    ['soldAt', ['1999-12-31T23:59:59.999Z', '2024-01-01T00:00:00.000Z']],
  ])('sorts %s by its values', async (field, ascending) => {
    const shelf = await books(
      open,
      [...ascending].reverse().map((value) => ({ [field]: value })),
    );
    const ids = ascending.map((_, i) => ascending.length - i);
    expect(await shelf.ids(BOOK, MATCH_ALL, { sort: [by(field)] })).toEqual(ids);
    expect(await shelf.ids(BOOK, MATCH_ALL, { sort: [by(field, 'desc')] })).toEqual([...ids].reverse());
  });

  it('ranks publication states never published, modified, published', async () => {
    const states = ['published', 'never-published', 'modified'];
    const shelf = await books(
      open,
      states.map(($publication) => ({ $publication })),
    );
    expect(await shelf.ids(BOOK, MATCH_ALL, { sort: [by('$publication')] })).toEqual([2, 3, 1]);
    expect(await shelf.ids(BOOK, term('$publication', 'modified'))).toEqual([3]);
  });

  describe('through relations', () => {
    /** Book 1: tags of weight 1 and 9; book 2: 5 and NULL; book 3: none; book 4: 4. */
    async function tagged(): Promise<Shelf> {
      const shelf = await books(open, [{}, {}, {}, {}]);
      const weights = [1, 9, 5, null, 4];
      await shelf.apply(
        weights.map((weight, i) => shelf.put(TAG, 'live', i + 21, { id: i + 1, weight })),
        [
          link(BOOK, 'tags', 1, 21),
          link(BOOK, 'tags', 1, 22),
          link(BOOK, 'tags', 2, 23),
          link(BOOK, 'tags', 2, 24),
          link(BOOK, 'tags', 4, 25),
        ],
      );
      return shelf;
    }

    it('uses the smallest value ascending and the largest descending; a NULL or no row is the largest', async () => {
      const shelf = await tagged();
      expect(await shelf.ids(BOOK, MATCH_ALL, { sort: [by('weight', 'asc', ['tags'])] })).toEqual([
        1, 4, 2, 3,
      ]);
      expect(await shelf.ids(BOOK, MATCH_ALL, { sort: [by('weight', 'desc', ['tags'])] })).toEqual([
        2, 3, 1, 4,
      ]);
    });

    it('uses all related rows, also those that a filter on the same relation excludes', async () => {
      const shelf = await tagged();
      const filter = {
        kind: 'some',
        attribute: 'tags',
        query: { kind: 'range', field: 'weight', gte: 4 },
      } as const;
      expect(await shelf.ids(BOOK, filter, { sort: [by('weight', 'asc', ['tags'])] })).toEqual([1, 4, 2]);
    });

    it('traverses paths of several steps, from inverse sides and into components', async () => {
      const shelf = await openShelf(open);
      const chapter = (id: number, length: number) => shelf.part('lib.chapter', { id, length });
      await shelf.apply(
        [
          shelf.put(BOOK, 'published', 1, { id: 1 }, { chapters: [chapter(1, 3), chapter(2, 8)] }),
          shelf.put(BOOK, 'published', 2, { id: 2 }, { chapters: [chapter(3, 5)] }),
          shelf.put(BOOK, 'published', 3, { id: 3 }),
          shelf.put(AUTHOR, 'published', 11, { id: 1, name: 'z' }),
          shelf.put(AUTHOR, 'published', 12, { id: 2, name: 'a' }),
          shelf.put(TOWN, 'live', 31, { id: 1, name: 'north' }),
          shelf.put(TOWN, 'live', 32, { id: 2, name: 'south' }),
        ],
        [
          link(BOOK, 'author', 1, 11),
          link(BOOK, 'author', 2, 12),
          link(AUTHOR, 'home', 11, 31),
          link(AUTHOR, 'home', 12, 32),
        ],
      );
      const sorted = (path: readonly string[], field: string, direction: 'asc' | 'desc' = 'asc') =>
        shelf.ids(BOOK, MATCH_ALL, { sort: [by(field, direction, path)] });
      expect(await sorted(['author'], 'name')).toEqual([2, 1, 3]);
      expect(await sorted(['author', 'home'], 'name')).toEqual([1, 2, 3]);
      expect(await sorted(['chapters'], 'length')).toEqual([1, 2, 3]);
      expect(await sorted(['chapters'], 'length', 'desc')).toEqual([3, 1, 2]);
      const towns = { sort: [by('length', 'desc', ['authors', 'books', 'chapters'])] };
      expect(await shelf.ids(TOWN, MATCH_ALL, towns)).toEqual([1, 2]);
    });

    it('is correct after changes of values and links anywhere on the path', async () => {
      const shelf = await tagged();
      const sort = [by('weight', 'asc', ['tags'])];
      expect(await shelf.ids(BOOK, MATCH_ALL, { sort })).toEqual([1, 4, 2, 3]);
      await shelf.apply([shelf.put(TAG, 'live', 25, { id: 5, weight: 0 })]);
      expect(await shelf.ids(BOOK, MATCH_ALL, { sort })).toEqual([4, 1, 2, 3]);
      await shelf.apply([], [unlink(BOOK, 'tags', 4, 25), link(BOOK, 'tags', 3, 25)]);
      expect(await shelf.ids(BOOK, MATCH_ALL, { sort })).toEqual([3, 1, 2, 4]);
      await shelf.apply([shelf.drop(TAG, 'live', 25), shelf.drop(BOOK, 'published', 1)]);
      expect(await shelf.ids(BOOK, MATCH_ALL, { sort })).toEqual([2, 3, 4]);
    });
  });
}
