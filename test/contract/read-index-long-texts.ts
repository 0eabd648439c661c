import { describe, expect, it } from 'vitest';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import { AUTHOR, BOOK } from './read-index-library.ts';
import { any, inZone, link, not, type OpenIndex, openShelf, type Shelf, some } from './read-index-shelf.ts';

type Match = 'equals' | 'contains' | 'prefix' | 'suffix';

/** A text in which every few characters differ, longer than the number of conditions that a query may have anywhere. */
const LONG = Array.from({ length: 2_400 }, (_, i) => `W${i}`).join(' ');
const [HALF, THIRD] = [LONG.length / 2, Math.floor(LONG.length / 3)];
/** Texts of the rows 1 to 6. The second differs by one letter, the third by capitals. */
const TEXTS = [
  LONG,
  `${LONG.slice(0, THIRD)}!${LONG.slice(THIRD + 1)}`,
  LONG.toLowerCase(),
  `before ${LONG}`,
  `${LONG} after`,
  'W1',
];

/** Columns with texts: how a row gets a text, and how a query gets to the column. */
const PLACES: readonly {
  readonly name: string;
  readonly field: string;
  readonly put: (shelf: Shelf, id: number, text: string) => ReturnType<Shelf['put']>;
  readonly query: (query: BoolQuery) => BoolQuery;
}[] = [
  {
    name: 'of a row',
    field: 'body',
    put: ({ put }, id, body) => put(BOOK, 'published', id, { id, body }),
    query: (query) => query,
  },
  {
    name: 'of a component',
    field: 'color',
    put: ({ put, part }, id, color) =>
      put(BOOK, 'published', id, { id }, { cover: [part('lib.cover', { id: id + 50, color })] }),
    query: (query) => some('cover', query),
  },
  {
    name: 'of a list of components',
    field: 'heading',
    put: ({ put, part }, id, heading) => {
      const chapters = [
        part('lib.chapter', { id: id + 200, heading: 'W1' }),
        part('lib.chapter', { id: id + 100, heading }),
      ];
      return put(BOOK, 'published', id, { id }, { chapters });
    },
    query: (query) => some('chapters', query),
  },
  {
    name: 'of components in components',
    field: 'name',
    put: ({ put, part }, id, name) => {
      const swatches = [part('lib.swatch', { id: id + 100, name })];
      const cover = [part('lib.cover', { id: id + 50, color: 'red' }, { swatches })];
      return put(BOOK, 'published', id, { id }, { cover });
    },
    query: (query) => some('cover', some('swatches', query)),
  },
  {
    name: 'of a dynamic zone',
    field: 'text',
    put: ({ put, part }, id, text) => {
      const extras = [
        part('lib.cover', { id: id + 100, color: text }),
        part('lib.quote', { id: id + 100, text }),
      ];
      return put(BOOK, 'published', id, { id }, { extras });
    },
    query: (query) => inZone('extras', 'lib.quote', query),
  },
];

export function describeLongTexts(open: OpenIndex): void {
  const text = (field: string, match: Match, value: string, fold: boolean): BoolQuery => ({
    ...{ kind: 'text', match, field, fold },
    value: fold ? value.toLowerCase() : value,
  });

  describe.each(PLACES)('long texts $name', ({ field, put, query }) => {
    it('are compared exactly', async () => {
      const shelf = await openShelf(open);
      await shelf.apply(TEXTS.map((each, i) => put(shelf, i + 1, each)));
      const find = (match: Match, value: string, fold: boolean) =>
        shelf.ids(BOOK, query(text(field, match, value, fold)));
      expect(await find('equals', LONG, true)).toEqual([1, 3]);
      expect(await find('contains', LONG, false)).toEqual([1, 4, 5]);
      expect(await find('contains', LONG, true)).toEqual([1, 3, 4, 5]);
      expect(await find('prefix', LONG, false)).toEqual([1, 5]);
      expect(await find('suffix', LONG, false)).toEqual([1, 4]);
      expect(await find('suffix', LONG, true)).toEqual([1, 3, 4]);
      expect(await find('contains', LONG.slice(HALF), false)).toEqual([1, 2, 4, 5]);
      expect(await find('contains', `${LONG}!`, true)).toEqual([]);
      expect(await shelf.ids(BOOK, not(query(text(field, 'contains', LONG, false))))).toEqual([2, 3, 6]);
      // Together they are too long for one query.
      const parts = [LONG.slice(0, 900), LONG.slice(-900), TEXTS[1]?.slice(THIRD - 450, THIRD + 450) ?? ''];
      const together = any(...parts.map((each) => query(text(field, 'contains', each, true))));
      expect(await shelf.ids(BOOK, together)).toEqual([1, 2, 3, 4, 5]);
    });
  });

  it('compares long texts of linked rows', async () => {
    const shelf = await openShelf(open);
    const authors = TEXTS.map((name, i) => shelf.put(AUTHOR, 'published', i + 1, { id: i + 1, name }));
    const books = TEXTS.map((_, i) => shelf.put(BOOK, 'published', i + 1, { id: i + 1 }));
    await shelf.apply(
      [...authors, ...books],
      TEXTS.map((_, i) => link(BOOK, 'author', i + 1, i + 1)),
    );
    for (const fold of [false, true]) {
      const found = fold ? [1, 3, 4, 5] : [1, 4, 5];
      const query = text('name', 'contains', LONG, fold);
      expect(await shelf.ids(BOOK, some('author', query))).toEqual(found);
      expect(await shelf.ids(AUTHOR, some('books', some('author', query)))).toEqual(found);
    }
  });
}
