import type { Uid } from '../../../schema/content-type.ts';
import { rest } from '../../../turns/slice.ts';
import type { RowVersion } from '../../read-index.ts';
import type { RowSetIndex } from '../rows/row-set.ts';
import { createSourceBlocks, releaseSource, type SourceBlocks, storeSource } from './source-blocks.ts';

/** Reads the source of a content type's row that is not in memory. */
export type LoadSource = (type: Uid, version: RowVersion, key: number) => Uint8Array;

/** Storage for sources, with a limit of bytes in memory. Without `load` all sources stay, because they cannot be read elsewhere. */
export type SourceStore = {
  bytesLeft: number;
  readonly load: LoadSource | undefined;
  readonly blocks: SourceBlocks;
};

/** Cost of reading a source, in steps of a slice. */
const LOAD_STEPS = 100;

/** Creates a store for `bytes` bytes. `load` reads sources of content types' rows that do not fit. */
export function createSourceStore(bytes: number, load: LoadSource | undefined): SourceStore {
  return { bytesLeft: bytes, load, blocks: createSourceBlocks() };
}

/** Stores a row's source in place of its previous one. Drops it if it does not fit and can be loaded. */
export function keepSource(store: SourceStore, rowSet: RowSetIndex, row: number, source: Uint8Array): void {
  forgetSource(store, rowSet, row);
  // Component rows cannot be loaded one by one.
  const loadable = store.load !== undefined && rowSet.path.length === 0;
  if (loadable && source.byteLength > store.bytesLeft) return;
  store.bytesLeft -= source.byteLength;
  storeSource(store.blocks, rowSet, row, source);
}

/** Releases a row's source. Does nothing if it is not in memory. */
export function forgetSource(store: SourceStore, rowSet: RowSetIndex, row: number): void {
  const old = rowSet.sources[row];
  rowSet.sources[row] = undefined;
  if (old === undefined) return;
  store.bytesLeft += old.byteLength;
  releaseSource(store.blocks, old);
}

/** Returns the sources of rows, in their order. Loads sources that are not in memory, one by one. Throws without `load`. */
export function sourcesOf(
  store: SourceStore,
  rowSet: RowSetIndex,
  rows: readonly number[],
): readonly Uint8Array[] {
  const { sources } = rowSet;
  const found: Uint8Array[] = new Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as number;
    found[i] = sources[row] ?? loadSource(store, rowSet, row);
  }
  return found;
}

/** Reads sources in slices, and adds those that `found` lacks. If a call ends with its slice, the next call continues. */
export function addSources(
  store: SourceStore,
  rowSet: RowSetIndex,
  rows: readonly number[],
  found: Uint8Array[],
): void {
  const { sources } = rowSet;
  for (let i = found.length; i < rows.length; i++) {
    const row = rows[i] as number;
    const inMemory = sources[row];
    found.push(inMemory ?? loadSource(store, rowSet, row));
    rest(inMemory === undefined ? LOAD_STEPS : 1);
  }
}

function loadSource(store: SourceStore, rowSet: RowSetIndex, row: number): Uint8Array {
  if (store.load === undefined) throw new Error(`row ${row} of ${rowSet.type} has no source`);
  return store.load(rowSet.type, rowSet.version, rowSet.keys[row] as number);
}
