import { expect, it } from 'vitest';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import { BOOK, TAG } from '../contract/read-index-library.ts';
import { by, link, MATCH_ALL, openShelf } from '../contract/read-index-shelf.ts';

const BOOKS = 30;
const TAGS = 20;
/** Two groups of books. Each book has every tag of its group, so there are 300^6 paths of twelve steps. */
const islandOf = (number: number) => number % 2;
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
const TO_AND_FRO = numbers(6).flatMap(() => ['tags', 'books']);

it('sorts along paths of many steps at the cost of the links, also after changes', async () => {
  const shelf = await openShelf(async (registry) => createEmbeddedIndex({ registry }));
  const book = (id: number, pages: number) => shelf.put(BOOK, 'published', id, { id, pages });
  await shelf.apply(
    [
      ...numbers(BOOKS).map((id) => book(id, id)),
      ...numbers(TAGS).map((id) => shelf.put(TAG, 'live', 100 + id, { id })),
    ],
    numbers(BOOKS).flatMap((source) =>
      numbers(TAGS)
        .filter((tag) => islandOf(tag) === islandOf(source))
        .map((tag) => link(BOOK, 'tags', source, 100 + tag)),
    ),
  );
  const sorted = (direction: 'asc' | 'desc') =>
    shelf.ids(BOOK, MATCH_ALL, { sort: [by('pages', direction, TO_AND_FRO)] });
  const odd = numbers(BOOKS).filter((id) => islandOf(id) === 1);
  const even = numbers(BOOKS).filter((id) => islandOf(id) === 0);

  expect(await sorted('asc')).toEqual([...odd, ...even]);
  expect(await sorted('desc')).toEqual([...even, ...odd]);
  await shelf.apply([book(2, 0), book(1, 99)]);
  expect(await sorted('asc')).toEqual([...even, ...odd]);
  expect(await sorted('desc')).toEqual([...odd, ...even]);
});
