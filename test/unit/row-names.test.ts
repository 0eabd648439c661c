import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NAME_LENGTH, NAME_WORDS } from '../../services/delivery/packed-names.ts';
import { createRowNames } from '../../services/delivery/row-names.ts';
import { createEmbeddedIndex, type EmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { Hits, World } from '../../shared/read-index/read-index.ts';
import { BOOK, libraryRegistry } from '../contract/read-index-library.ts';
import { nameAt } from '../support/name-at.ts';

/** Returns the source of a version of a row. Its bytes are unique. */
function sourceOf(version: number, length = 80): Uint8Array {
  const source = new Uint8Array(length).fill(32);
  new DataView(source.buffer).setFloat64(0, version);
  return source;
}
const versionOf = (source: Uint8Array) => new DataView(source.buffer, source.byteOffset).getFloat64(0);

function createBooks(options: Partial<Parameters<typeof createEmbeddedIndex>[0]> = {}) {
  const index = createEmbeddedIndex({ registry: libraryRegistry(), reuseOrdinalsAfter: 0, ...options });
  let position = 0n;
  return {
    index,
    async put(version: number, key: number, length?: number): Promise<void> {
      const row = { source: sourceOf(version, length), fields: { id: key }, components: {} };
      const rows = [{ type: BOOK, version: 'published', key, row } as const];
      await index.apply({ position: ++position, rows, links: [] });
    },
    async remove(key: number): Promise<void> {
      const rows = [{ type: BOOK, version: 'published', key, row: null } as const];
      await index.apply({ position: ++position, rows, links: [] });
    },
    hits: () => allOf(index),
  };
}

async function allOf(index: EmbeddedIndex): Promise<Hits> {
  const search = { type: BOOK, world: 'published', query: { kind: 'match_all' }, sort: [], from: 0 } as const;
  return (await index.search({ ...search, size: 5_000, withTotal: false })).hits;
}

const numberOf = (words: Uint32Array, at: number) => Number(nameAt(words, at));
/** Packed names: the name of a tag is the tag, with zeros before it. */
const packed = {
  words: new Uint32Array(NAME_WORDS),
  placeOf(tag: string) {
    Buffer.from(packed.words.buffer).write(tag.padStart(NAME_LENGTH, '0'), 'latin1');
    return 0;
  },
};

/** Creates names of the kind's number and the row's version. Counts how often a tag is made. */
function createNamed(index: EmbeddedIndex) {
  let made = 0;
  const addRows = createRowNames(index, packed);
  const kindOf = (kind: number, world: World = 'published') => ({
    type: BOOK,
    world,
    key: String(kind),
    tagOf(source: Uint8Array) {
      made++;
      return String(kind * 1e6 + versionOf(source));
    },
  });
  const namesOf = (hits: Hits, kind = 1): readonly number[] => {
    const names: number[] = [];
    addRows({ kind: kindOf(kind), hits }, (words, at) => {
      names.push(numberOf(words, at) - kind * 1e6);
      return true;
    });
    return names;
  };
  return { namesOf, made: () => made, addRows, kindOf };
}

it('makes the tag of a row in memory once for each kind, for all users of the index', async () => {
  const { index, put, hits } = createBooks();
  for (const key of [1, 2, 3]) await put(10 + key, key);
  const [one, other] = [createNamed(index), createNamed(index)];
  for (let i = 0; i < 3; i++) expect(one.namesOf(await hits())).toEqual([11, 12, 13]);
  for (let i = 0; i < 3; i++) expect(one.namesOf(await hits(), 2)).toEqual([11, 12, 13]);
  expect(one.made()).toBe(6);
  expect(other.namesOf(await hits())).toEqual([11, 12, 13]);
  expect(other.made()).toBe(0);
});

it('makes the tag of a changed row again, and uses the bytes of an earlier answer for the tags of that answer', async () => {
  const { index, put, remove, hits } = createBooks();
  const { namesOf } = createNamed(index);
  await put(1, 7);
  const before = await hits();
  expect(namesOf(before)).toEqual([1]);
  await put(2, 7);
  const now = await hits();
  expect(now.rows).toEqual(before.rows);
  // A name that was made of the row's old bytes is not used for its new ones.
  for (let i = 0; i < 2; i++) expect([namesOf(before), namesOf(now)]).toEqual([[1], [2]]);
  await remove(7);
  await put(3, 8);
  const next = await hits();
  // This is another row with the same number.
  expect(next.rows).toEqual(before.rows);
  for (let i = 0; i < 2; i++) expect([before, now, next].map((one) => namesOf(one))).toEqual([[1], [2], [3]]);
});

it('remembers the names of rows with high numbers', async () => {
  const { index, put, hits } = createBooks();
  const { namesOf, made } = createNamed(index);
  for (let key = 1; key <= 1_030; key++) await put(key, key);
  const all = await hits();
  for (let i = 0; i < 2; i++) expect(namesOf(all)).toEqual(all.sources.map(versionOf));
  expect(made()).toBe(1_030);
});

it('remembers nothing of rows that were read for one answer', async () => {
  let version = 1;
  const { index, put, hits } = createBooks({ sourceMemoryBytes: 0, loadSource: () => sourceOf(version) });
  const { namesOf, made } = createNamed(index);
  await put(1, 1);
  expect(namesOf(await hits())).toEqual([1]);
  version = 2;
  expect(namesOf(await hits())).toEqual([2]);
  expect(made()).toBe(2);
  const elsewhere = createRowNames({}, packed);
  const named: number[] = [];
  const kind = createNamed(index).kindOf(0);
  elsewhere({ kind, hits: await hits() }, (words, at) => named.push(numberOf(words, at)) > 0);
  expect(named).toEqual([2]);
});

it('ends when there is no space for more names', async () => {
  const { index, put, hits } = createBooks();
  for (const key of [1, 2, 3]) await put(key, key);
  const { addRows, kindOf, made } = createNamed(index);
  let left = 2;
  expect(addRows({ kind: kindOf(1), hits: await hits() }, () => --left > 0)).toBe(false);
  expect(made()).toBe(2);
});

it('names the rows of an index by their bytes, after any writes, deletions and moves', async () => {
  const change = fc.record({
    key: fc.integer({ min: 1, max: 60 }),
    length: fc.oneof(fc.integer({ min: 8, max: 200 }), fc.integer({ min: 8, max: 40_000 })),
    isDeleted: fc.boolean(),
    isShown: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 50, maxLength: 300 }), async (changes) => {
      const { index, put, remove, hits } = createBooks();
      const { namesOf } = createNamed(index);
      let version = 0;
      let earlier = await hits();
      for (const { key, length, isDeleted, isShown } of changes) {
        if (isDeleted) await remove(key);
        else await put(++version, key, length);
        if (!isShown) continue;
        const shown = await hits();
        for (const one of [earlier, shown]) expect(namesOf(one)).toEqual(one.sources.map(versionOf));
        earlier = shown;
      }
    }),
    { numRuns: 30 },
  );
});
