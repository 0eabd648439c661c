import { expect, it } from 'vitest';
import type { BoolQuery, Scalar } from '../../shared/read-index/bool-query.ts';
import type { TraverseRequest } from '../../shared/read-index/read-index.ts';
import { AUTHOR, BOOK, decode } from './read-index-library.ts';
import {
  all,
  by,
  exists,
  inZone,
  link,
  MATCH_ALL,
  not,
  type OpenIndex,
  openShelf,
  some,
  term,
} from './read-index-shelf.ts';

const QUOTE = [{ attribute: 'extras', zoneComponent: 'lib.quote' }] as const;
const FRAME = [...QUOTE, { attribute: 'frame' }] as const;

/** Ids and names of swatches. */
type Named = readonly (readonly [number, string])[];

/** Two books whose dynamic zones have components of two kinds with equal ids, values and lists. */
async function openZones(open: OpenIndex) {
  const shelf = await openShelf(open);
  const { part, put } = shelf;
  const swatches = (...names: Named) => ({
    swatches: names.map(([id, name]) => part('lib.swatch', { id, name })),
  });
  const frame = (id: number, values: object, names: Named) => ({
    frame: [part('lib.frame', { id, ...values }, swatches(...names))],
  });
  const first = [
    part('lib.cover', { id: 1, color: 'red', depth: 5 }, swatches([1, 'ash'], [2, 'bone'])),
    part(
      'lib.quote',
      { id: 1, text: 'red' },
      frame(1, { style: 'Red', width: 5.5 }, [
        [3, 'coal'],
        [4, 'ash'],
      ]),
    ),
  ];
  const second = [
    part('lib.quote', { id: 2, text: 'blue' }),
    part('lib.cover', { id: 2, color: 'blue', depth: null }, swatches([5, 'coal'])),
    part('lib.quote', { id: 3, text: null }, frame(2, { style: 'red', width: null }, [])),
  ];
  await shelf.apply(
    [
      ...['Ann', 'Bob'].map((name, i) => put(AUTHOR, 'published', i + 1, { id: i + 1, name })),
      put(BOOK, 'published', 1, { id: 1 }, { extras: first }),
      put(BOOK, 'published', 2, { id: 2 }, { extras: second }),
    ],
    [
      link(BOOK, 'artist', 1, 2, { path: [{ attribute: 'extras', zoneComponent: 'lib.cover' }] }),
      link(BOOK, 'maker', 1, 1, { path: FRAME }),
      link(BOOK, 'source', 3, 1, { path: QUOTE }),
    ],
  );
  return shelf;
}

export function describeZones(open: OpenIndex): void {
  const cover = (query: BoolQuery) => inZone('extras', 'lib.cover', query);
  const quote = (query: BoolQuery) => inZone('extras', 'lib.quote', query);
  const frame = (query: BoolQuery = MATCH_ALL) => quote(some('frame', query));
  const above = (field: string, gt: Scalar): BoolQuery => ({ kind: 'range', field, gt });

  const QUERIES: readonly (readonly [what: string, query: BoolQuery, found: readonly number[]])[] = [
    ['a text of one kind', cover(term('color', 'red')), [1]],
    ['the same text of another kind', quote(term('text', 'blue')), [2]],
    ['a value that only another kind has', quote(term('text', 'ash')), []],
    ['a number', cover(above('depth', 4)), [1]],
    ['a missing value', cover(not(exists('depth'))), [2]],
    ['a single component', frame(term('style', 'red')), [2]],
    ['its number', frame(above('width', 5)), [1]],
    ['its absence', quote(not(some('frame'))), [2]],
    ['its presence', frame(), [1, 2]],
    ['its missing value', frame(not(exists('width'))), [2]],
    ['a list in a component', cover(some('swatches', term('name', 'coal'))), [2]],
    ['a list in a single component', frame(some('swatches', term('name', 'coal'))), [1]],
    ['a list that another kind has', cover(some('swatches', term('name', 'bone'))), [1]],
    ['an empty list', frame(not(some('swatches'))), [2]],
    [
      'two conditions of one component',
      quote(all(term('text', 'red'), some('frame', term('style', 'Red')))),
      [1],
    ],
    ['two conditions of two components', quote(all(term('text', 'blue'), some('frame'))), []],
    ['a linked row', cover(some('artist', term('name', 'Bob'))), [1]],
    ['a row that a single component links to', frame(some('maker', term('name', 'Ann'))), [1]],
    ['a row that another component links to', frame(some('maker', term('name', 'Bob'))), []],
    ['any link', quote(some('source')), [2]],
    ['a book that links back', quote(some('source', cover(term('color', 'red')))), [2]],
  ];

  it.each(QUERIES)('finds %s', async (_what, query, found) => {
    const shelf = await openZones(open);
    expect(await shelf.ids(BOOK, query)).toEqual(found);
    expect(await shelf.ids(BOOK, not(query))).toEqual([1, 2].filter((id) => !found.includes(id)));
  });

  it('traverses components with equal ids, and sorts and selects what is in them', async () => {
    const { index } = await openZones(open);
    const request = { ...({ type: BOOK, world: 'published', query: MATCH_ALL, sort: [] } as const) };
    const books = await index.search({ ...request, from: 0, size: 9, withTotal: false });
    const traverse = (
      path: TraverseRequest['rowSet']['path'],
      more: Pick<TraverseRequest, 'parents' | 'attribute'> & Partial<TraverseRequest>,
    ) => index.traverse({ rowSet: { type: BOOK, path }, world: 'published', limit: 99, ...more });
    const idsOf = (found: Awaited<ReturnType<typeof traverse>>) =>
      found.children.map(({ sources }) => sources.map((source) => decode(source).id));
    const zone = new Map([['lib.quote', MATCH_ALL]]);
    const quotes = await traverse([], { parents: books.hits.rows, attribute: 'extras', zone });
    expect(idsOf(quotes)).toEqual([[1], [2, 3]]);
    const red = new Map([['lib.quote', some('frame', above('width', 1))]]);
    expect(idsOf(await traverse([], { parents: books.hits.rows, attribute: 'extras', zone: red }))).toEqual([
      [1],
      [],
    ]);
    const parents = quotes.children.flatMap(({ rows }) => rows);
    const frames = await traverse(QUOTE, { parents, attribute: 'frame' });
    expect(idsOf(frames)).toEqual([[1], [], [2]]);
    expect(
      idsOf(await traverse(QUOTE, { parents, attribute: 'frame', query: term('style', 'red') })),
    ).toEqual([[], [], [2]]);
    const framed = frames.children.flatMap(({ rows }) => rows);
    const swatches = { parents: framed, attribute: 'swatches' };
    expect(idsOf(await traverse(FRAME, swatches))).toEqual([[3, 4], []]);
    expect(idsOf(await traverse(FRAME, { ...swatches, sort: [by('name')] }))).toEqual([[4, 3], []]);
    expect(idsOf(await traverse(FRAME, { ...swatches, query: term('name', 'ash') }))).toEqual([[4], []]);
    expect(idsOf(await traverse(FRAME, { parents: framed, attribute: 'maker' }))).toEqual([[1], []]);
  });
}
