import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRowNames } from '../../services/delivery/row-names.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import { BOOK, libraryRegistry } from '../contract/read-index-library.ts';

const ROW = 80;

/** Rows in one buffer, one behind the other; each begins with its letter. */
function packed(letters: string): readonly Uint8Array[] {
  const buffer = new Uint8Array(letters.length * ROW);
  return [...letters].map((letter, i) => {
    buffer[i * ROW] = letter.charCodeAt(0);
    return buffer.subarray(i * ROW, (i + 1) * ROW);
  });
}

/** Names are the letters' codes. Counts how often a tag is made. */
function createNamed() {
  let made = 0;
  const kindOf = (key: string) => ({
    key,
    tagOf(source: Uint8Array) {
      made++;
      return `${key}${String.fromCharCode(source[0] ?? 0)}`;
    },
  });
  const addRows = createRowNames((tag) => tag.charCodeAt(0) * 1000 + tag.charCodeAt(1));
  const namesOf = (key: string, rows: readonly number[], sources: readonly Uint8Array[]): string => {
    let text = '';
    addRows({ kind: kindOf(key), hits: { rows, sources } }, (name) => {
      expect(Math.floor(name / 1000)).toBe(key.charCodeAt(0));
      text += String.fromCharCode(name % 1000);
      return true;
    });
    return text;
  };
  return { namesOf, made: () => made, addRows, kindOf };
}

it('makes the tag of a row in memory once, for each kind', () => {
  const { namesOf, made } = createNamed();
  const sources = packed('abc');
  for (let i = 0; i < 3; i++) expect(namesOf('d', [0, 1, 2], sources)).toBe('abc');
  expect(made()).toBe(3);
  for (let i = 0; i < 3; i++) expect(namesOf('o', [0, 1, 2], sources)).toBe('abc');
  expect(made()).toBe(6);
  // Answers have other views on the same bytes.
  expect(namesOf('d', [1], packed('xyz').slice(1, 2))).toBe('y');
  expect(namesOf('d', [1], [new Uint8Array(sources[1]?.buffer ?? new ArrayBuffer(), ROW, ROW)])).toBe('b');
  expect(made()).toBe(8);
});

it('makes it again for another row with the number, and for a row whose bytes are elsewhere', () => {
  const { namesOf } = createNamed();
  const sources = packed('abc');
  expect(namesOf('d', [7], sources.slice(0, 1))).toBe('a');
  // Another position, and another buffer.
  expect(namesOf('d', [7], sources.slice(1, 2))).toBe('b');
  expect(namesOf('d', [7], packed('z'.repeat(3)).slice(1, 2))).toBe('z');
  expect(namesOf('d', [7], sources.slice(1, 2))).toBe('b');
  // An empty row, and one that begins where it is.
  const [first] = packed('ab') as [Uint8Array, Uint8Array];
  expect(namesOf('d', [7], [first.subarray(0, 0)])).toBe('\0');
  expect(namesOf('d', [7], [first])).toBe('a');
});

it('distinguishes rows whose numbers share an entry', () => {
  const { namesOf } = createNamed();
  const sources = packed('abc');
  const rows = [3, 3 + 2 ** 20, 3 + 2 ** 21];
  for (let i = 0; i < 2; i++) expect(namesOf('d', rows, sources)).toBe('abc');
  expect(namesOf('d', [1000, 100_000, 2 ** 40], sources)).toBe('abc');
});

it('remembers nothing of rows that were read for one answer', () => {
  const { namesOf, made } = createNamed();
  const buffer = new Uint8Array(ROW);
  for (const letter of 'ab') {
    buffer[0] = letter.charCodeAt(0);
    expect(namesOf('d', [0], [buffer])).toBe(letter);
  }
  expect(made()).toBe(2);
});

it('ends when there is no room for more names', () => {
  const { addRows, kindOf, made } = createNamed();
  const hits = { rows: [0, 1, 2], sources: packed('abc') };
  let left = 2;
  expect(addRows({ kind: kindOf('d'), hits }, () => --left > 0)).toBe(false);
  expect(made()).toBe(2);
});

/** The source of a version of a row: its bytes are of no other one. */
function sourceOf(version: number, length: number): Uint8Array {
  const source = new Uint8Array(length).fill(32);
  new DataView(source.buffer).setFloat64(0, version);
  return source;
}

it('names the rows of an index as their bytes say, whatever was written, deleted and moved before', async () => {
  const change = fc.record({
    key: fc.integer({ min: 1, max: 60 }),
    length: fc.oneof(fc.integer({ min: 8, max: 200 }), fc.integer({ min: 8, max: 40_000 })),
    isDeleted: fc.boolean(),
    isShown: fc.boolean(),
  });
  const search = { type: BOOK, world: 'published', query: { kind: 'match_all' }, sort: [], from: 0 } as const;
  const tagOf = (source: Uint8Array) => String(new DataView(source.buffer, source.byteOffset).getFloat64(0));
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 50, maxLength: 300 }), async (changes) => {
      const index = createEmbeddedIndex({ registry: libraryRegistry(), reuseOrdinalsAfter: 0 });
      const addRows = createRowNames(Number);
      let version = 0;
      for (const { key, length, isDeleted, isShown } of changes) {
        const fields = { id: key };
        const row = isDeleted ? null : { source: sourceOf(++version, length), fields, components: {} };
        const rows = [{ type: BOOK, version: 'published', key, row } as const];
        await index.apply({ position: BigInt(version + 1), rows, links: [] });
        if (!isShown) continue;
        const { hits } = await index.search({ ...search, size: 100, withTotal: false });
        const names: number[] = [];
        addRows({ kind: { key: 'd', tagOf }, hits }, (name) => names.push(name) > 0);
        expect(names.map(String)).toEqual(hits.sources.map(tagOf));
      }
    }),
    { numRuns: 30 },
  );
});
