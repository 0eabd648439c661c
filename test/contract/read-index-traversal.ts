import { expect, it } from 'vitest';
import type { TraverseRequest } from '../../shared/read-index/read-index.ts';
import { AUTHOR, BOOK, decode, TAG } from './read-index-library.ts';
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
  unlink,
} from './read-index-shelf.ts';

/** Book 1 has tags 3, 1, 2 in that order, book 2 tag 1, book 3 none. In the lists of the tags book 2 is before book 1. */
async function tagged(open: OpenIndex): Promise<Shelf> {
  const shelf = await openShelf(open);
  await shelf.apply(
    [
      ...[1, 2, 3].map((id) => shelf.put(BOOK, 'published', id, { id, title: `b${id}` })),
      ...[1, 2, 3].map((id) => shelf.put(TAG, 'live', 20 + id, { id, weight: id * 10 })),
    ],
    [
      link(BOOK, 'tags', 1, 21, { order: [2, 5] }),
      link(BOOK, 'tags', 1, 22, { order: [3, 0] }),
      link(BOOK, 'tags', 1, 23, { order: [1, 0] }),
      link(BOOK, 'tags', 2, 21, { order: [1, 4] }),
    ],
  );
  return shelf;
}

/** Returns the rows of all books, in the order of their ids. */
async function booksOf({ index }: Shelf): Promise<TraverseRequest['parents']> {
  const { hits } = await index.search({
    type: BOOK,
    world: 'published',
    query: MATCH_ALL,
    sort: [],
    from: 0,
    size: 10,
    withTotal: false,
  });
  return hits.rows;
}

export function describeTraversal(open: OpenIndex): void {
  it('lists linked rows in link order, from either side', async () => {
    const shelf = await tagged(open);
    expect(await shelf.linked(BOOK, 'tags')).toEqual([[3, 1, 2], [1], []]);
    expect(await shelf.linked(TAG, 'books')).toEqual([[2, 1], [1], [1]]);
  });

  it('changes slots in either order', async () => {
    const shelf = await tagged(open);
    await shelf.apply(
      [],
      [link(BOOK, 'tags', 1, 23, { order: [9, 0] }), link(BOOK, 'tags', 1, 21, { order: [2, 1] })],
    );
    expect(await shelf.linked(BOOK, 'tags')).toEqual([[1, 2, 3], [1], []]);
    expect(await shelf.linked(TAG, 'books')).toEqual([[1, 2], [1], [1]]);
    await shelf.apply([], [unlink(BOOK, 'tags', 1, 22), link(BOOK, 'tags', 1, 22, { order: [0, 0] })]);
    expect(await shelf.linked(BOOK, 'tags')).toEqual([[2, 1, 3], [1], []]);
  });

  it('breaks ties of slots by key', async () => {
    const shelf = await tagged(open);
    const links = [23, 21, 22].map((tag) => link(BOOK, 'tags', 3, tag, { order: [7, 9] }));
    await shelf.apply([], links);
    expect(await shelf.linked(BOOK, 'tags', { of: term('id', 3) })).toEqual([[1, 2, 3]]);
  });

  it('filters linked rows by a query, and sorts by other keys than slot', async () => {
    const shelf = await tagged(open);
    const query = { kind: 'range', field: 'weight', gte: 20 } as const;
    expect(await shelf.linked(BOOK, 'tags', { query })).toEqual([[3, 2], [], []]);
    expect(await shelf.linked(BOOK, 'tags', { sort: [by('weight')] })).toEqual([[1, 2, 3], [1], []]);
    expect(await shelf.linked(BOOK, 'tags', { sort: [by('weight', 'desc')], query })).toEqual([
      [3, 2],
      [],
      [],
    ]);
    expect(await shelf.linked(TAG, 'books', { query: some('tags', term('id', 3)) })).toEqual([[1], [1], [1]]);
    expect(await shelf.linked(TAG, 'books', { sort: [by('id', 'desc', ['tags'])] })).toEqual([
      [1, 2],
      [1],
      [1],
    ]);
  });

  it('counts without listing', async () => {
    const shelf = await tagged(open);
    const parents = await booksOf(shelf);
    const request: TraverseRequest = {
      rowSet: { type: BOOK, path: [] },
      world: 'published',
      parents,
      attribute: 'tags',
      limit: 1,
      countOnly: true,
    };
    expect((await shelf.index.traverse(request)).counts).toEqual([3, 1, 0]);
    const counted = await shelf.index.traverse({ ...request, query: not(term('id', 1)) });
    expect(counted.counts).toEqual([2, 0, 0]);
    expect(counted.children.map(({ rows, sources }) => [...rows, ...sources])).toEqual([[], [], []]);
  });

  it('stops at the limit for all parents together, and reports this', async () => {
    const shelf = await tagged(open);
    const parents = await booksOf(shelf);
    const traverse = async (limit: number) => {
      const { children, exceeded } = await shelf.index.traverse({
        rowSet: { type: BOOK, path: [] },
        world: 'published',
        parents,
        attribute: 'tags',
        limit,
      });
      return [children.flatMap(({ rows }) => rows).length, exceeded];
    };
    expect(await Promise.all([4, 3, 1, 0].map(traverse))).toEqual([
      [4, false],
      [3, true],
      [1, true],
      [0, true],
    ]);
  });

  it('traverses from the rows that it found, level by level, inside one world', async () => {
    const shelf = await openShelf(open);
    const rows = (['draft', 'published'] as const).flatMap((version, i) => [
      shelf.put(BOOK, version, 1, { id: i * 10 + 1 }),
      shelf.put(AUTHOR, version, 2, { id: i * 10 + 2 }),
    ]);
    const links = (['draft', 'published'] as const).flatMap((world) => [
      link(BOOK, 'author', 1, 2, { world }),
      link(TAG, 'best', 5, 1, { world }),
    ]);
    await shelf.apply([...rows, shelf.put(TAG, 'live', 5, { id: 5 })], links);
    for (const [world, expected] of [
      ['draft', [1, 2]],
      ['published', [11, 12]],
    ] as const) {
      const tags = await shelf.index.search({
        type: TAG,
        world,
        query: MATCH_ALL,
        sort: [],
        from: 0,
        size: 1,
        withTotal: false,
      });
      const books = await shelf.index.traverse({
        rowSet: { type: TAG, path: [] },
        world,
        parents: tags.hits.rows,
        attribute: 'best',
        limit: 10,
      });
      const parents = books.children.flatMap(({ rows }) => rows);
      const authors = await shelf.index.traverse({
        rowSet: { type: BOOK, path: [] },
        world,
        parents,
        attribute: 'author',
        limit: 10,
      });
      const ids = [...books.children, ...authors.children].flatMap(({ sources }) =>
        sources.map((s) => decode(s).id),
      );
      expect(ids).toEqual(expected);
    }
  });

  it('traverses components, zones with the kind of each child, and relations inside components', async () => {
    const shelf = await openShelf(open);
    const extras = [
      shelf.part('lib.quote', { id: 3, text: 'q' }),
      shelf.part(
        'lib.cover',
        { id: 4 },
        { swatches: [shelf.part('lib.swatch', { id: 9 }), shelf.part('lib.swatch', { id: 8 })] },
      ),
      shelf.part('lib.quote', { id: 2, text: 'r' }),
    ];
    const chapters = [5, 7, 6].map((id) => shelf.part('lib.chapter', { id }));
    const zoneCover = [{ attribute: 'extras', zoneComponent: 'lib.cover' }];
    await shelf.apply(
      [
        shelf.put(BOOK, 'published', 1, { id: 1 }, { extras, chapters }),
        shelf.put(AUTHOR, 'published', 11, { id: 77 }),
      ],
      [link(BOOK, 'artist', 4, 11, { path: zoneCover })],
    );
    expect(await shelf.linked(BOOK, 'chapters')).toEqual([[5, 7, 6]]);
    const parents = await booksOf(shelf);
    const common = { world: 'published', limit: 100 } as const;
    const zone = await shelf.index.traverse({
      ...common,
      rowSet: { type: BOOK, path: [] },
      parents,
      attribute: 'extras',
    });
    expect(zone.zoneComponents).toEqual([['lib.quote', 'lib.cover', 'lib.quote']]);
    expect(zone.children[0]?.sources.map((source) => decode(source).id)).toEqual([3, 4, 2]);
    const cover = [zone.children[0]?.rows[1] as number];
    const rowSet = { type: BOOK, path: zoneCover };
    const swatches = await shelf.index.traverse({ ...common, rowSet, parents: cover, attribute: 'swatches' });
    expect(swatches.children[0]?.sources.map((source) => decode(source).id)).toEqual([9, 8]);
    const artist = await shelf.index.traverse({ ...common, rowSet, parents: cover, attribute: 'artist' });
    expect(artist.children[0]?.sources.map((source) => decode(source).id)).toEqual([77]);
  });
}
