import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { PRODUCT, readRooms } from '../support/rooms.ts';

/**
 * Rooms outside of a feature's own ones that import it. A number may only fall: a feature is one room and one line. Its own rooms are those
 * whose path has its folder's name.
 */
const MOST_ROOMS: Readonly<Record<string, number>> = {
  changes: 5,
  erasure: 10,
  follow: 8,
  history: 5,
  'instant-search': 3,
  login: 4,
  past: 4,
  purge: 4,
  releases: 9,
  webhooks: 9,
};

const CHECKOUT = path.resolve(import.meta.dirname, '../..');
const rooms = readRooms(readFileSync(path.join(CHECKOUT, 'docs/architecture.md'), 'utf8'))
  .map(({ folder }) => folder)
  .sort((one, other) => other.length - one.length);
const imports = globSync(
  PRODUCT.map((root) => `${root}/**/*.ts`),
  { cwd: CHECKOUT },
).flatMap((file) =>
  importedBy(readFileSync(path.join(CHECKOUT, file), 'utf8')).map((to) => ({
    from: roomOf(file),
    to: roomOf(path.join(path.dirname(file), to)),
  })),
);

it.each(Object.keys(MOST_ROOMS))('no further room imports the feature %s', (feature) => {
  const isOwn = (room: string) => room.split('/').includes(feature);
  expect(rooms.some(isOwn), `there is no room ${feature}`).toBe(true);
  const importing = imports.filter(({ from, to }) => isOwn(to) && !isOwn(from)).map(({ from }) => from);
  const found = [...new Set(importing)].sort();
  const most = MOST_ROOMS[feature] as number;
  expect(found.length, `${most} rooms may import it: ${found.join(', ')}`).toBeLessThanOrEqual(most);
});

/** Returns the relative imports of a file. */
function importedBy(text: string): readonly string[] {
  return [...text.matchAll(/(?:\bfrom|\bimport\(?)\s*'(\.[^']+)'/g)].map(([, to = '']) => to);
}

/** Returns the innermost room of a file. */
function roomOf(file: string): string {
  return rooms.find((room) => file.startsWith(`${room}/`)) ?? '';
}
