import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import { createRowSets, versionRowSet } from '../../shared/read-index/embedded/rows/row-sets.ts';
import { createSourceBlocks } from '../../shared/read-index/embedded/sources/source-blocks.ts';
import {
  forgetSource,
  keepSource,
  sourcesOf,
} from '../../shared/read-index/embedded/sources/source-store.ts';
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

it('does not keep the large buffer that contains a small source', async () => {
  const index = createEmbeddedIndex({ registry });
  const large = new Uint8Array(100_000);
  large.set(bytes('small'));
  await index.apply({ position: 1n, rows: [put(1, large.subarray(0, 5))], links: [] });
  const [source] = (await index.search(request)).hits.sources;
  expect(texts([source as Uint8Array])).toEqual(['small']);
  expect(source?.buffer).not.toBe(large.buffer);
});

it('keeps every source unchanged while rows are added, changed and removed', async () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(199), fc.nat(40_000)), { maxLength: 400 }), (writes) => {
      const blocks = createSourceBlocks();
      const rowSet = versionRowSet(createRowSets(registry, 0), BOOK, 'published');
      const expected = new Map<number, Uint8Array>();
      for (const [i, [row, size]] of writes.entries()) {
        if (size % 7 === 0) {
          forgetSource(blocks, rowSet, row);
          expected.delete(row);
        } else {
          const source = new Uint8Array(size).fill(i % 251);
          keepSource(blocks, rowSet, row, source);
          expected.set(row, source);
        }
      }
      const rows = [...expected.keys()];
      expect(sourcesOf(rowSet, rows).map((source) => Buffer.from(source))).toEqual(
        rows.map((row) => Buffer.from(expected.get(row) as Uint8Array)),
      );
    }),
    { numRuns: 50 },
  );
});

it('never keeps much more than twice the bytes in use, although a few rows of each round stay', () => {
  const blocks = createSourceBlocks();
  const rowSet = versionRowSet(createRowSets(registry, 0), BOOK, 'published');
  for (let i = 0; i < 40_000; i++) {
    // One of a thousand rows is never written again.
    const row = i % 1000 === 0 ? 1000 + i / 1000 : i % 1000;
    keepSource(blocks, rowSet, row, new Uint8Array(500).fill(i % 251));
  }
  const live = rowSet.sources.reduce((sum, source) => sum + (source?.byteLength ?? 0), 0);
  const held = [...blocks.byBuffer.values()].reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
  expect(live).toBe(1039 * 500);
  expect(held).toBeLessThan(2 * live + 2 * 256 * 1024);
});
