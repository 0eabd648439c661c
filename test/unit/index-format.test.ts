import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import { INDEX_FORMAT } from '../../shared/read-index/index-format.ts';
import { AUTHOR, BOOK, libraryRegistry, TAG, TOWN } from '../contract/read-index-library.ts';
import { by, link, openShelf, term } from '../contract/read-index-shelf.ts';

/** Format of snapshots, and a digest of one. */
const KNOWN = { format: '3', digest: '08a326640090641add933abdbad82871e48998daf33940d0f5039f9b57d4da4d' };
const ADVICE = `a snapshot has another content or form than before: increase FORMAT in shared/read-index/index-format.ts,
  so that no process reads a snapshot of an earlier program, and write the new format and digest into this file`;

it('a change of what a snapshot of the index contains has a new format', async () => {
  const index = createEmbeddedIndex({ registry: libraryRegistry() });
  const shelf = await openShelf(async () => index);
  const { put, part, apply, ids, drop } = shelf;
  const swatches = [
    part('lib.swatch', { id: 21, name: 'Rot' }),
    part('lib.swatch', { id: 22, name: 'Blau' }),
  ];
  const cover = part('lib.cover', { id: 11, color: 'red', depth: 3 }, { swatches });
  await apply(
    [
      put(TOWN, 'live', 1, { id: 1, name: 'Porto' }),
      put(TAG, 'live', 2, { id: 2, name: 'Sea', weight: 1.5 }),
      put(TAG, 'live', 3, { id: 3, name: 'Land', weight: null }),
      ...(['draft', 'published'] as const).flatMap((version, at) => [
        put(AUTHOR, version, 4, { id: 4 + at, name: 'Ana Água' }),
        put(
          BOOK,
          version,
          5,
          { id: 6 + at, title: 'The Sea', copies: 7, price: '9.99', inPrint: true },
          { cover: [cover] },
        ),
        put(BOOK, version, 6, { id: 8 + at, title: 'Two words', released: '2024-02-29' }),
        put(BOOK, version, 7, { id: 10 + at, title: 'Gone' }),
      ]),
    ],
    (['draft', 'published'] as const).flatMap((world) => [
      link(AUTHOR, 'home', 4, 1, { world }),
      link(BOOK, 'author', 5, 4, { world }),
      link(BOOK, 'tags', 5, 2, { world, order: [1, 0] }),
      link(BOOK, 'tags', 5, 3, { world, order: [0, 1] }),
    ]),
  );
  await apply([drop(BOOK, 'draft', 7), drop(BOOK, 'published', 7)]);
  // Queries build dictionaries, which a snapshot contains.
  expect(await ids(BOOK, term('title', 'The Sea'))).toEqual([7]);
  expect(await ids(BOOK, { kind: 'match_all' }, { sort: [by('title', 'desc')] })).toEqual([9, 7]);
  const parts = JSON.stringify([...index.snapshot.parts()], (_, value) => plain(value));
  const digest = createHash('sha256').update(parts).digest('hex');
  expect({ format: INDEX_FORMAT.split(' ')[1], digest }, ADVICE).toEqual(KNOWN);
});

/** Returns a value that JSON can express, with the type of a list or map. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (value === undefined) return 'undefined';
  if (ArrayBuffer.isView(value)) return [value.constructor.name, ...(value as Uint8Array)];
  return value instanceof Map || value instanceof Set ? [value.constructor.name, ...value] : value;
}
