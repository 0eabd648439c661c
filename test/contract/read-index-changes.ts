import { expect, it } from 'vitest';
import { AUTHOR, BOOK, TAG } from './read-index-library.ts';
import {
  by,
  exists,
  link,
  MATCH_ALL,
  not,
  type OpenIndex,
  openShelf,
  some,
  term,
} from './read-index-shelf.ts';

export function describeChanges(open: OpenIndex): void {
  it('starts at position 0 and advances with each batch', async () => {
    const shelf = await openShelf(open);
    expect(shelf.index.position()).toBe(0n);
    await shelf.index.apply({ position: 7n, rows: [], links: [] });
    expect(shelf.index.position()).toBe(7n);
  });

  it('the next search after a change finds new values, and not the old ones', async () => {
    const shelf = await openShelf(open);
    await shelf.apply([shelf.put(BOOK, 'published', 1, { id: 1, title: 'old', pages: 1, copies: '1' })]);
    await shelf.apply([shelf.put(BOOK, 'published', 1, { id: 1, title: 'new', pages: 2 })]);
    expect(await shelf.ids(BOOK, term('title', 'old'))).toEqual([]);
    expect(await shelf.ids(BOOK, term('title', 'new'))).toEqual([1]);
    expect(await shelf.ids(BOOK, { kind: 'range', field: 'pages', lte: 1 })).toEqual([]);
    expect(await shelf.ids(BOOK, exists('copies'))).toEqual([]);
    expect(
      await shelf.ids(BOOK, { kind: 'text', match: 'contains', field: 'title', value: 'ne', fold: true }),
    ).toEqual([1]);
  });

  it('removes a row with its components and every link from and to it', async () => {
    const shelf = await openShelf(open);
    const cover = [shelf.part('lib.cover', { id: 1, color: 'red' })];
    const rows = [
      shelf.put(BOOK, 'published', 1, { id: 1 }, { cover }),
      shelf.put(AUTHOR, 'published', 2, { id: 2 }),
      shelf.put(TAG, 'live', 3, { id: 3 }),
    ];
    await shelf.apply(rows, [link(BOOK, 'author', 1, 2), link(BOOK, 'tags', 1, 3)]);
    await shelf.apply([shelf.drop(BOOK, 'published', 1)]);
    expect(await shelf.ids(BOOK, MATCH_ALL)).toEqual([]);
    expect(await shelf.ids(AUTHOR, some('books'))).toEqual([]);
    await shelf.apply(rows.slice(0, 1));
    expect(await shelf.ids(BOOK, not(some('author')))).toEqual([1]);
    expect(await shelf.ids(TAG, not(some('books')))).toEqual([3]);
    expect(await shelf.ids(BOOK, some('cover', term('color', 'red')))).toEqual([1]);
    await shelf.apply([shelf.drop(AUTHOR, 'published', 2), shelf.drop(AUTHOR, 'published', 99)]);
    expect(await shelf.ids(AUTHOR, MATCH_ALL)).toEqual([]);
  });

  it('accepts a batch twice, and an older one again, without a change', async () => {
    const shelf = await openShelf(open);
    const first = {
      position: 1n,
      rows: [
        shelf.put(BOOK, 'published', 1, { id: 1, title: 'one' }),
        shelf.put(AUTHOR, 'published', 2, { id: 2 }),
      ],
      links: [link(BOOK, 'author', 1, 2)],
    };
    const second = {
      position: 2n,
      rows: [shelf.put(BOOK, 'published', 1, { id: 3, title: 'two' }), shelf.drop(AUTHOR, 'published', 2)],
      links: [],
    };
    for (const batch of [first, first, second, second, first]) await shelf.index.apply(batch);
    expect(shelf.index.position()).toBe(2n);
    expect(await shelf.ids(BOOK, MATCH_ALL)).toEqual([3]);
    expect(await shelf.ids(BOOK, term('title', 'two'))).toEqual([3]);
    expect(await shelf.ids(AUTHOR, MATCH_ALL)).toEqual([]);
  });

  it('applies a batch in its order: rows, then links', async () => {
    const shelf = await openShelf(open);
    await shelf.apply(
      [
        shelf.put(BOOK, 'published', 1, { id: 1, title: 'a' }),
        shelf.drop(BOOK, 'published', 1),
        shelf.put(BOOK, 'published', 1, { id: 2, title: 'b' }),
        shelf.put(AUTHOR, 'published', 5, { id: 5 }),
      ],
      [
        link(BOOK, 'author', 1, 5),
        { ...link(BOOK, 'author', 1, 5), order: null },
        link(BOOK, 'author', 1, 5),
        link(BOOK, 'author', 1, 404),
      ],
    );
    expect(await shelf.ids(BOOK, some('author'))).toEqual([2]);
    expect(await shelf.linked(BOOK, 'author')).toEqual([[5]]);
  });

  it('keeps draft and published rows apart', async () => {
    const shelf = await openShelf(open);
    await shelf.apply([
      shelf.put(BOOK, 'draft', 1, { id: 1, title: 'draft text', pages: 1 }),
      shelf.put(BOOK, 'published', 2, { id: 2, title: 'public text', pages: 2 }),
    ]);
    const contains = { kind: 'text', match: 'contains', field: 'title', value: 'text', fold: false } as const;
    expect(await shelf.ids(BOOK, contains)).toEqual([2]);
    expect(await shelf.ids(BOOK, contains, { world: 'draft', sort: [by('pages')] })).toEqual([1]);
    await shelf.apply([shelf.drop(BOOK, 'published', 2)]);
    expect(await shelf.ids(BOOK, MATCH_ALL)).toEqual([]);
    expect(await shelf.ids(BOOK, MATCH_ALL, { world: 'draft' })).toEqual([1]);
  });

  it('does not index a private attribute', async () => {
    const shelf = await openShelf(open);
    const change = shelf.put(BOOK, 'published', 1, { id: 1 });
    const fields = { ...change.row?.fields, secret: 'hidden' };
    await shelf.apply([{ ...change, row: change.row && { ...change.row, fields } }]);
    await expect(shelf.ids(BOOK, term('secret', 'hidden'))).rejects.toThrow();
    expect(await shelf.ids(BOOK, MATCH_ALL)).toEqual([1]);
  });

  it('gives correct answers after hundreds of changes', async () => {
    const shelf = await openShelf(open);
    const titles = new Map<number, string>();
    for (let i = 0; i < 300; i++) {
      const key = (i * 7) % 41;
      const id = key + 1;
      if (i % 5 === 4) {
        titles.delete(id);
        await shelf.apply([shelf.drop(BOOK, 'published', key + 1)]);
      } else {
        titles.set(id, `title ${(i * 13) % 17}`);
        await shelf.apply([shelf.put(BOOK, 'published', key + 1, { id, title: `title ${(i * 13) % 17}` })]);
      }
    }
    const sorted = [...titles].sort(([a, left], [b, right]) =>
      left < right ? -1 : left > right ? 1 : a - b,
    );
    expect(await shelf.ids(BOOK, MATCH_ALL, { sort: [by('title')] })).toEqual(sorted.map(([id]) => id));
    for (const title of new Set(titles.values())) {
      const expected = [...titles].filter(([, each]) => each === title).map(([id]) => id);
      expect(await shelf.ids(BOOK, term('title', title))).toEqual(expected.sort((a, b) => a - b));
    }
  });
}
