import { rest } from '../../../turns/slice.ts';
import type { RowSetIndex } from '../rows/row-set.ts';
import { releaseSource, type SourceBlocks, storeSource } from './source-blocks.ts';

/** Stores a row's source in place of its previous one. */
export function keepSource(blocks: SourceBlocks, rowSet: RowSetIndex, row: number, source: Uint8Array): void {
  forgetSource(blocks, rowSet, row);
  storeSource(blocks, rowSet, row, source);
}

/** Releases a row's source. Does nothing if the row has none. */
export function forgetSource(blocks: SourceBlocks, rowSet: RowSetIndex, row: number): void {
  const old = rowSet.sources[row];
  rowSet.sources[row] = undefined;
  if (old !== undefined) releaseSource(blocks, old);
}

/** Returns the sources of rows, in their order. */
export function sourcesOf(rowSet: RowSetIndex, rows: readonly number[]): readonly Uint8Array[] {
  return rows.map((row) => sourceOfRow(rowSet, row));
}

/** Reads sources in slices, and adds those that `found` lacks. If a call ends with its slice, the next call continues. */
export function addSources(rowSet: RowSetIndex, rows: readonly number[], found: Uint8Array[]): void {
  for (let i = found.length; i < rows.length; i++) {
    found.push(sourceOfRow(rowSet, rows[i] as number));
    rest(1);
  }
}

function sourceOfRow({ sources, type }: RowSetIndex, row: number): Uint8Array {
  const source = sources[row];
  if (source === undefined) throw new Error(`row ${row} of ${type} has no source`);
  return source;
}
