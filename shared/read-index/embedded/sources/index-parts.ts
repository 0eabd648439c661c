import type { Scalar } from '../../bool-query.ts';
import { WORLDS, type World } from '../../read-index.ts';
import { createDictionary, type Dictionary } from '../columns/dictionary.ts';
import type { IndexedColumn } from '../columns/indexed-column.ts';
import { type Bits, selectRows, wordsFor } from '../lists/bits.ts';
import type { LinkSide, Links } from '../rows/links.ts';
import { columnOf, type RowSetIndex } from '../rows/row-set.ts';
import { componentBelow, linksOfRowSet, versionRowSet, versionRowSets } from '../rows/row-sets.ts';
import type { BatchTarget } from './apply-batch.ts';
import { keepSource, sourcesOf } from './source-store.ts';

/**
 * Part of the state of an index, without functions, so that V8 can serialise it. `rows` begins a row set, to which the parts after it
 * belong. `values` continue the column before them. Of what queries build at their first use, only complete dictionaries are included.
 */
type IndexPart =
  | (SavedRows & { readonly kind: 'rows' })
  | {
      readonly kind: 'numbers';
      readonly field: string;
      readonly column: SavedColumn & { values: Float64Array };
    }
  | {
      readonly kind: 'terms';
      readonly field: string;
      readonly column: SavedColumn;
      readonly dictionary: Pick<Dictionary, 'terms' | 'freeNumbers' | 'postings'> | undefined;
    }
  | {
      readonly kind: 'values';
      readonly field: string;
      readonly values: readonly (Scalar | null | undefined)[];
    }
  | {
      readonly kind: 'sources';
      readonly rows: readonly number[];
      readonly lengths: readonly number[];
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'links'; readonly world: World; readonly attribute: string; readonly links: SavedLinks };

type SavedRows = Pick<RowSetIndex, 'type' | 'version' | 'path'> & {
  /** Names and kinds of the columns. */
  readonly columns: string;
  readonly counts: Pick<RowSetIndex, 'keys' | 'present' | 'size' | 'count' | 'idsAscend' | 'lastId'>;
  readonly freeOrdinals: number[];
  /** Links of components to the rows that contain them. */
  readonly parents: SavedLinks | undefined;
};
type SavedColumn = { readonly present: Bits; readonly presentCount: number };
type SavedLinks = { readonly [side in keyof Links]: Pick<LinkSide, 'lists' | 'unsorted'> };

/** Approximate bytes of a part with values or sources. So saving and restoring need little memory besides the index. */
const PART_BYTES = 2 ** 20;
/** Approximate bytes of a value besides its characters. */
const VALUE_BYTES = 16;

/** Returns the state of an index in parts. The index must not change before all have been read. */
export function* indexParts({ rowSets }: Pick<BatchTarget, 'rowSets'>): Iterable<IndexPart> {
  for (const rowSet of versionRowSets(rowSets)) yield* rowSetParts(rowSet);
}

/** Returns a function that adds parts to an empty index, in their order. It throws if the content types of the index are others. */
export function createRestore(index: BatchTarget): (part: unknown) => void {
  let rowSet: RowSetIndex | undefined;
  return (saved) => {
    const part = saved as IndexPart;
    if (part.kind === 'rows') rowSet = restoreRows(index, part);
    else if (rowSet !== undefined) restorePart(index, rowSet, part);
  };
}

function* rowSetParts(rowSet: RowSetIndex, parents?: Links): Iterable<IndexPart> {
  const { type, version, path, size, count, idsAscend, lastId, freeOrdinals } = rowSet;
  if (size === 0) return;
  // All arrays of a row set have the length of whole words of bits, in which they also grow.
  const capacity = wordsFor(size) * 32;
  const [keys, present] = [rowSet.keys.subarray(0, capacity), bitsOf(rowSet, capacity)];
  yield {
    kind: 'rows',
    type,
    version,
    path,
    columns: columnsOf(rowSet),
    counts: { keys, present, size, count, idsAscend, lastId },
    freeOrdinals: freeOrdinals.waiting.slice(freeOrdinals.next),
    parents: parents && savedLinks(parents),
  };
  for (const column of rowSet.columns) yield* columnParts(column, capacity);
  yield* sourceParts(rowSet);
  for (const world of WORLDS) {
    for (const [attribute, links] of rowSet.links[world])
      yield { kind: 'links', world, attribute, links: savedLinks(links) };
  }
  for (const below of rowSet.components.values()) yield* rowSetParts(below.rowSet, below.links);
}

function* columnParts({ field, store }: IndexedColumn, capacity: number): Iterable<IndexPart> {
  const column = { present: bitsOf(store.column, capacity), presentCount: store.column.presentCount };
  if (store.kind === 'numbers') {
    yield {
      kind: 'numbers',
      field,
      column: { ...column, values: store.column.values.subarray(0, capacity) },
    };
    return;
  }
  const { plain, dictionary } = store.column;
  const complete = plain === undefined ? dictionary : undefined;
  const saved = complete && {
    terms: complete.terms.subarray(0, capacity),
    freeNumbers: complete.freeNumbers,
    postings: complete.postings,
  };
  yield { kind: 'terms', field, column, dictionary: saved };
  const bytesOf = (value: Scalar | null | undefined) =>
    VALUE_BYTES + (typeof value === 'string' ? value.length : 0);
  for (const values of groups(plain ?? complete?.values ?? [], bytesOf))
    yield { kind: 'values', field, values };
}

function* sourceParts(rowSet: RowSetIndex): Iterable<IndexPart> {
  const sourceOf = (row: number) => sourcesOf(rowSet, [row])[0] as Uint8Array;
  const all = selectRows(rowSet.present, 0, rowSet.count);
  for (const rows of groups(all, (row) => sourceOf(row).length)) {
    const sources = rows.map(sourceOf);
    const lengths = sources.map(({ length }) => length);
    yield { kind: 'sources', rows, lengths, bytes: Buffer.concat(sources) };
  }
}

/** Cuts values into groups of about PART_BYTES. */
function* groups<Value>(values: readonly Value[], bytesOf: (value: Value) => number): Iterable<Value[]> {
  let from = 0;
  let bytes = 0;
  for (let at = 0; at < values.length; at++) {
    bytes += bytesOf(values[at] as Value);
    if (bytes < PART_BYTES && at < values.length - 1) continue;
    yield values.slice(from, at + 1);
    from = at + 1;
    bytes = 0;
  }
}

function bitsOf({ present }: { readonly present: Bits }, capacity: number): Bits {
  return present.subarray(0, wordsFor(capacity));
}

function columnsOf(rowSet: RowSetIndex): string {
  return rowSet.columns.map(({ field, store }) => `${field} ${store.kind}`).join();
}

function savedLinks({ forward, backward }: Links): SavedLinks {
  const saved = ({ lists, unsorted }: LinkSide) => ({ lists, unsorted });
  return { forward: saved(forward), backward: saved(backward) };
}

function restoreRows({ rowSets }: BatchTarget, part: SavedRows): RowSetIndex {
  let rowSet = versionRowSet(rowSets, part.type, part.version);
  let parents: Links | undefined;
  for (const step of part.path) ({ rowSet, links: parents } = componentBelow(rowSets, rowSet, step));
  if (columnsOf(rowSet) !== part.columns) throw new Error(`${rowSet.model.uid} has other columns`);
  const { keys, present, count } = part.counts;
  Object.assign(rowSet, part.counts);
  rowSet.freeOrdinals.waiting = part.freeOrdinals;
  for (const row of selectRows(present, 0, count)) rowSet.ordinals.set(keys[row] as number, row);
  if (parents !== undefined && part.parents !== undefined) restoreLinks(parents, part.parents);
  return rowSet;
}

function restorePart(
  { rowSets, sources }: BatchTarget,
  rowSet: RowSetIndex,
  part: Exclude<IndexPart, { readonly kind: 'rows' }>,
): void {
  if (part.kind === 'links') {
    restoreLinks(linksOfRowSet(rowSets, rowSet, part.attribute, part.world), part.links);
  } else if (part.kind === 'sources') {
    let at = 0;
    for (const [i, row] of part.rows.entries()) {
      const length = part.lengths[i] as number;
      keepSource(sources, rowSet, row, part.bytes.subarray(at, at + length));
      at += length;
    }
  } else restoreColumn(columnOf(rowSet, part.field), part);
}

function restoreColumn({ store }: IndexedColumn, part: Extract<IndexPart, { readonly field: string }>): void {
  if (part.kind !== 'values') Object.assign(store.column, part.column);
  if (store.kind === 'numbers') return;
  const { column } = store;
  if (part.kind === 'terms' && part.dictionary !== undefined) {
    column.dictionary = {
      ...createDictionary(column.textOf, 0),
      ...part.dictionary,
      done: Number.POSITIVE_INFINITY,
    };
    column.plain = undefined;
  }
  if (part.kind !== 'values') return;
  for (const value of part.values) {
    if (column.plain !== undefined) column.plain.push(value ?? null);
    else addValue(column.dictionary as Dictionary, value ?? undefined);
  }
}

function addValue({ values, numbers }: Dictionary, value: Scalar | undefined): void {
  const term = values.push(value) - 1;
  if (value !== undefined) numbers.set(value, term);
}

function restoreLinks(links: Links, saved: SavedLinks): void {
  for (const side of ['forward', 'backward'] as const) {
    Object.assign(links[side].lists, saved[side].lists);
    for (const row of saved[side].unsorted) links[side].unsorted.add(row);
  }
}
