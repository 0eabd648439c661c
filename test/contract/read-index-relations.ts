import { describe, expect, it } from 'vitest';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import { AUTHOR, BOOK, PAGE, TAG, TOWN } from './read-index-library.ts';
import {
  all,
  any,
  exists,
  inZone,
  link,
  MATCH_ALL,
  not,
  type OpenIndex,
  openShelf,
  type Shelf,
  some,
  term,
  unlink,
} from './read-index-shelf.ts';

/** Books 1 and 2 are by author 1 of town 1, book 3 is by author 2 without a town. Tag 1 is on books 1 and 3, tag 2 on book 1. */
async function library(open: OpenIndex): Promise<Shelf> {
  const shelf = await openShelf(open);
  const rows = [
    ...[1, 2, 3, 4].map((id) => shelf.put(BOOK, 'published', id, { id, title: `b${id}`, pages: id * 10 })),
    ...[1, 2].map((id) => shelf.put(AUTHOR, 'published', 10 + id, { id, name: `a${id}` })),
    ...[1, 2, 3].map((id) => shelf.put(TAG, 'live', 20 + id, { id, name: `t${id}`, weight: id })),
    shelf.put(TOWN, 'live', 31, { id: 1, name: 'w1' }),
  ];
  const links = [
    link(BOOK, 'author', 1, 11),
    link(BOOK, 'author', 2, 11),
    link(BOOK, 'author', 3, 12),
    link(AUTHOR, 'home', 11, 31),
    link(BOOK, 'tags', 1, 21),
    link(BOOK, 'tags', 1, 22, { order: [1, 0] }),
    link(BOOK, 'tags', 3, 21),
  ];
  await shelf.apply(rows, links);
  return shelf;
}

export function describeRelations(open: OpenIndex): void {
  it('finds rows by a related row, from both sides and over several steps', async () => {
    const shelf = await library(open);
    expect(await shelf.ids(BOOK, some('author', term('name', 'a1')))).toEqual([1, 2]);
    expect(await shelf.ids(AUTHOR, some('books', term('title', 'b3')))).toEqual([2]);
    expect(await shelf.ids(BOOK, some('author', some('home', term('name', 'w1'))))).toEqual([1, 2]);
    expect(await shelf.ids(TOWN, some('authors', some('books', some('tags', term('name', 't2')))))).toEqual([
      1,
    ]);
    expect(await shelf.ids(TAG, some('books', some('author', not(some('home')))))).toEqual([1]);
  });

  it('finds rows with and without links', async () => {
    const shelf = await library(open);
    expect(await shelf.ids(BOOK, some('author'))).toEqual([1, 2, 3]);
    expect(await shelf.ids(BOOK, not(some('author')))).toEqual([4]);
    expect(await shelf.ids(TAG, not(some('books')))).toEqual([3]);
    expect(await shelf.ids(BOOK, some('tags', { kind: 'match_none' }))).toEqual([]);
  });

  it('one row must meet all conditions of one mention; two mentions may match different rows', async () => {
    const shelf = await library(open);
    const first = term('name', 't1');
    const heavy: BoolQuery = { kind: 'range', field: 'weight', gte: 2 };
    expect(await shelf.ids(BOOK, some('tags', all(first, heavy)))).toEqual([]);
    expect(await shelf.ids(BOOK, all(some('tags', first), some('tags', heavy)))).toEqual([1]);
    expect(await shelf.ids(BOOK, some('tags', not(first)))).toEqual([1]);
    expect(await shelf.ids(BOOK, any(some('tags', heavy), some('author', term('name', 'a2'))))).toEqual([
      1, 3,
    ]);
  });

  it('traverses a relation of a type to itself in both directions', async () => {
    const shelf = await library(open);
    await shelf.apply(
      [],
      [link(BOOK, 'sequel', 1, 2), link(BOOK, 'sequel', 2, 3), link(BOOK, 'related', 4, 4)],
    );
    expect(await shelf.ids(BOOK, some('sequel', some('sequel', term('title', 'b3'))))).toEqual([1]);
    expect(await shelf.ids(BOOK, some('prequel', term('title', 'b1')))).toEqual([2]);
    expect(await shelf.ids(BOOK, some('related', term('title', 'b4')))).toEqual([4]);
  });

  it('moves, removes and repeats links', async () => {
    const shelf = await library(open);
    const again = link(BOOK, 'author', 3, 11);
    await shelf.apply([], [unlink(BOOK, 'author', 3, 12), again, again, unlink(BOOK, 'tags', 2, 21)]);
    expect(await shelf.ids(BOOK, some('author', term('name', 'a1')))).toEqual([1, 2, 3]);
    expect(await shelf.ids(AUTHOR, not(some('books')))).toEqual([2]);
    await shelf.apply([], [unlink(BOOK, 'author', 3, 11)]);
    expect(await shelf.ids(AUTHOR, some('books', term('title', 'b3')))).toEqual([]);
  });

  it('separates the links of a type without draft & publish by world', async () => {
    const shelf = await openShelf(open);
    const books = (version: 'draft' | 'published', keys: readonly number[]) =>
      keys.map((key) => shelf.put(BOOK, version, key, { id: key, title: `b${key}` }));
    const rows = [
      ...books('draft', [1, 2]),
      ...books('published', [3]),
      shelf.put(TAG, 'live', 5, { id: 5, name: 't' }),
    ];
    await shelf.apply(rows, [
      link(TAG, 'best', 5, 2, { world: 'draft' }),
      link(TAG, 'best', 5, 3),
      link(BOOK, 'tags', 1, 5, { world: 'draft' }),
    ]);
    const best = (title: string) => some('best', term('title', title));
    expect(await shelf.ids(TAG, best('b2'), { world: 'draft' })).toEqual([5]);
    expect(await shelf.ids(TAG, best('b3'), { world: 'draft' })).toEqual([]);
    expect(await shelf.ids(TAG, best('b3'))).toEqual([5]);
    expect(await shelf.ids(TAG, some('books'), { world: 'draft' })).toEqual([5]);
    expect(await shelf.ids(TAG, some('books'))).toEqual([]);
    expect(await shelf.ids(BOOK, MATCH_ALL, { world: 'draft' })).toEqual([1, 2]);
    expect(await shelf.ids(TAG, MATCH_ALL, { world: 'draft' })).toEqual([5]);
  });

  it('treats localizations as a relation', async () => {
    const shelf = await openShelf(open);
    const page = (id: number, locale: string) =>
      shelf.put(PAGE, 'published', id, { id, title: `p${id}`, locale });
    const links = [link(PAGE, 'localizations', 1, 2), link(PAGE, 'localizations', 2, 1)];
    await shelf.apply([page(1, 'en'), page(2, 'fr'), page(3, 'en')], links);
    expect(await shelf.ids(PAGE, some('localizations', term('locale', 'fr')))).toEqual([1]);
    expect(await shelf.ids(PAGE, all(term('locale', 'en'), not(some('localizations'))))).toEqual([3]);
    expect(await shelf.linked(PAGE, 'localizations')).toEqual([[2], [1], []]);
  });

  describe('components', () => {
    /** Book 1: cover 5 with swatches 6 and 7, chapters 8 and 9, zone quote 3, cover 4; book 2: chapter 10. */
    async function withComponents(): Promise<Shelf> {
      const shelf = await openShelf(open);
      const swatches = [6, 7].map((id) => shelf.part('lib.swatch', { id, name: `s${id}` }));
      const cover = shelf.part('lib.cover', { id: 5, color: 'red', depth: 1 }, { swatches });
      const chapter = (id: number, length: number | null) =>
        shelf.part('lib.chapter', { id, heading: `h${id}`, length });
      const extras = [
        shelf.part('lib.quote', { id: 3, text: 'q' }),
        shelf.part('lib.cover', { id: 4, color: 'blue' }),
      ];
      await shelf.apply(
        [
          shelf.put(
            BOOK,
            'published',
            1,
            { id: 1 },
            { cover: [cover], chapters: [chapter(8, 3), chapter(9, null)], extras },
          ),
          shelf.put(BOOK, 'published', 2, { id: 2 }, { chapters: [chapter(10, 30)] }),
          shelf.put(BOOK, 'published', 3, { id: 3 }),
          shelf.put(AUTHOR, 'published', 11, { id: 1, name: 'artist' }),
          shelf.put(TAG, 'live', 21, { id: 1, name: 'about' }),
        ],
        [
          link(BOOK, 'artist', 5, 11, { path: [{ attribute: 'cover' }] }),
          link(BOOK, 'artist', 4, 11, { path: [{ attribute: 'extras', zoneComponent: 'lib.cover' }] }),
          link(BOOK, 'about', 10, 21, { path: [{ attribute: 'chapters' }] }),
          link(BOOK, 'source', 3, 2, { path: [{ attribute: 'extras', zoneComponent: 'lib.quote' }] }),
        ],
      );
      return shelf;
    }

    it('finds rows by single, repeatable and nested components', async () => {
      const shelf = await withComponents();
      expect(await shelf.ids(BOOK, some('cover', term('color', 'red')))).toEqual([1]);
      expect(await shelf.ids(BOOK, not(some('cover')))).toEqual([2, 3]);
      expect(await shelf.ids(BOOK, some('chapters', { kind: 'range', field: 'length', gt: 2 }))).toEqual([
        1, 2,
      ]);
      expect(await shelf.ids(BOOK, some('chapters', not(exists('length'))))).toEqual([1]);
      expect(await shelf.ids(BOOK, some('cover', some('swatches', term('name', 's7'))))).toEqual([1]);
      expect(await shelf.ids(BOOK, some('chapters', term('id', 10)))).toEqual([2]);
    });

    it('finds rows through relations inside components', async () => {
      const shelf = await withComponents();
      expect(await shelf.ids(BOOK, some('cover', some('artist', term('name', 'artist'))))).toEqual([1]);
      expect(await shelf.ids(BOOK, some('chapters', some('about')))).toEqual([2]);
    });

    it('finds rows by the components of one kind in a dynamic zone', async () => {
      const shelf = await withComponents();
      expect(await shelf.ids(BOOK, inZone('extras', 'lib.cover', term('color', 'blue')))).toEqual([1]);
      expect(await shelf.ids(BOOK, inZone('extras', 'lib.cover', term('color', 'red')))).toEqual([]);
      expect(await shelf.ids(BOOK, inZone('extras', 'lib.cover', some('artist')))).toEqual([1]);
      expect(await shelf.ids(BOOK, inZone('extras', 'lib.quote', some('source', term('id', 2))))).toEqual([
        1,
      ]);
      expect(await shelf.ids(BOOK, not(inZone('extras', 'lib.quote')))).toEqual([2, 3]);
    });

    it('replaces all components of a row; equal keys keep their links', async () => {
      const shelf = await withComponents();
      const cover = shelf.part('lib.cover', { id: 5, color: 'green' });
      const chapters = [shelf.part('lib.chapter', { id: 12, heading: 'new' })];
      await shelf.apply([shelf.put(BOOK, 'published', 1, { id: 1 }, { cover: [cover], chapters })]);
      expect(await shelf.ids(BOOK, some('cover', all(term('color', 'green'), some('artist'))))).toEqual([1]);
      expect(await shelf.ids(BOOK, some('cover', some('swatches')))).toEqual([]);
      expect(await shelf.ids(BOOK, some('chapters', term('heading', 'h8')))).toEqual([]);
      expect(await shelf.ids(BOOK, inZone('extras', 'lib.quote'))).toEqual([]);
      await shelf.apply([shelf.put(BOOK, 'published', 2, { id: 2 })]);
      expect(await shelf.ids(BOOK, some('chapters', some('about')))).toEqual([]);
      expect(await shelf.ids(BOOK, some('chapters'))).toEqual([1]);
    });
  });
}
