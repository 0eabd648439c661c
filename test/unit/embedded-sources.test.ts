import { expect, it } from 'vitest';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { IndexedRow, RowChange } from '../../shared/read-index/read-index.ts';
import { BOOK, libraryRegistry } from '../contract/read-index-library.ts';

const registry = libraryRegistry();
const request = {
  type: BOOK,
  world: 'published',
  query: { kind: 'match_all' },
  sort: [],
  from: 0,
  size: 10,
  withTotal: true,
} as const;

function put(key: number, source: Uint8Array): RowChange {
  const row: IndexedRow = { source, fields: { id: key }, components: {} };
  return { type: BOOK, version: 'published', key, row };
}

const bytes = (text: string) => new TextEncoder().encode(text);
const texts = (sources: readonly Uint8Array[]) => sources.map((source) => new TextDecoder().decode(source));

it('keeps sources up to its memory and loads the others', async () => {
  const loaded: string[] = [];
  const index = createEmbeddedIndex({
    registry,
    sourceMemoryBytes: 10,
    loadSource: (type, version, key) => {
      loaded.push(`${type} ${version} ${key}`);
      return bytes(`loaded ${key}`);
    },
  });
  await index.apply({
    position: 1n,
    rows: [put(1, bytes('12345678')), put(2, bytes('12345678'))],
    links: [],
  });
  expect(texts((await index.search(request)).hits.sources)).toEqual(['12345678', 'loaded 2']);
  expect(loaded).toEqual([`${BOOK} published 2`]);
});

it('gives the memory of replaced and deleted sources back', async () => {
  const index = createEmbeddedIndex({ registry, sourceMemoryBytes: 10, loadSource: () => bytes('loaded') });
  for (let i = 0; i < 50; i++)
    await index.apply({ position: 1n, rows: [put(1, bytes(`version ${i % 10}`))], links: [] });
  expect(texts((await index.search(request)).hits.sources)).toEqual(['version 9']);
  await index.apply({
    position: 1n,
    rows: [{ type: BOOK, version: 'published', key: 1, row: null }, put(2, bytes('0123456789'))],
    links: [],
  });
  expect(texts((await index.search(request)).hits.sources)).toEqual(['0123456789']);
});

it('keeps all sources when there is nowhere to load them from', async () => {
  const index = createEmbeddedIndex({ registry, sourceMemoryBytes: 0 });
  await index.apply({ position: 1n, rows: [put(1, bytes('a')), put(2, bytes('b'))], links: [] });
  expect(texts((await index.search(request)).hits.sources)).toEqual(['a', 'b']);
});

it('does not hold on to the large buffer a small source is part of', async () => {
  const index = createEmbeddedIndex({ registry });
  const large = new Uint8Array(100_000);
  large.set(bytes('small'));
  await index.apply({ position: 1n, rows: [put(1, large.subarray(0, 5))], links: [] });
  const [source] = (await index.search(request)).hits.sources;
  expect(texts([source as Uint8Array])).toEqual(['small']);
  expect(source?.buffer.byteLength).toBe(5);
});
