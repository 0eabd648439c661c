import type { Model, Uid } from '../../../schema/content-type.ts';
import type { ComponentStep, FieldValues, RowVersion, World } from '../../read-index.ts';
import { columnTypes } from '../columns/column-types.ts';
import {
  createIndexedColumn,
  growColumn,
  type IndexedColumn,
  setColumnValue,
  sortValue,
} from '../columns/indexed-column.ts';
import { type Bits, clearBit, growBits, setBit, wordsFor } from '../lists/bits.ts';
import { grown } from '../lists/grown.ts';
import type { LinkSide, Links } from './links.ts';

/** Rows of one content type and version, or of one component path below it, by ordinal. */
export type RowSetIndex = {
  /** Number that no other row set of the index has. */
  readonly number: number;
  readonly type: Uid;
  readonly version: RowVersion;
  readonly path: readonly ComponentStep[];
  readonly model: Model;
  readonly ordinals: Map<number, number>;
  keys: Float64Array;
  /** Ordinals of existing rows. */
  present: Bits;
  /** Number of ordinals in use or free. Every ordinal is below it. */
  size: number;
  /** Number of existing rows. */
  count: number;
  readonly freeOrdinals: OrdinalQueue;
  readonly columns: readonly IndexedColumn[];
  readonly columnsByField: ReadonlyMap<string, IndexedColumn>;
  readonly ids: IndexedColumn;
  /** True while ids ascend with ordinals. Then the default order needs no permutation. */
  idsAscend: boolean;
  lastId: number;
  readonly sources: (Uint8Array | undefined)[];
  /** Links from these rows, by owning attribute. A row set of one version has links in one world only. */
  readonly links: { readonly [world in World]: Map<string, Links> };
  /** Row sets of the components below, by attribute and, in a dynamic zone, component. */
  readonly components: Map<string, ComponentRowSet>;
  readonly incoming: Links[];
  readonly steps: { readonly [world in World]: Map<string, Step> };
  readonly scratch: Bits[];
};

export type ComponentRowSet = {
  readonly attribute: string;
  readonly component: Uid;
  readonly rowSet: RowSetIndex;
  readonly links: Links;
};

/** A step from a row to linked rows: a relation from either side, or an attribute with components. */
export type Step = { readonly target: RowSetIndex; readonly down: LinkSide; readonly up: LinkSide };

/** Free ordinals, first in, first out. So an ordinal that a caller still uses is not soon given to another row. */
type OrdinalQueue = { waiting: number[]; next: number; readonly keep: number };

const FIRST_CAPACITY = 32;

/** Creates a row set without rows. `number` identifies it. An ordinal is reused after `reuseOrdinalsAfter` other deletions. */
export function createRowSet(
  address: { readonly type: Uid; readonly version: RowVersion; readonly path: readonly ComponentStep[] },
  model: Model,
  number: number,
  reuseOrdinalsAfter: number,
): RowSetIndex {
  const columns = [...columnTypes(model)].map(([field, type]) =>
    createIndexedColumn(field, type, FIRST_CAPACITY),
  );
  const columnsByField = new Map(columns.map((column) => [column.field, column]));
  const ids = columnsByField.get('id');
  if (ids === undefined) throw new Error(`${model.uid} has no id column`);
  return {
    ...address,
    number,
    model,
    ordinals: new Map(),
    keys: new Float64Array(FIRST_CAPACITY),
    present: new Int32Array(wordsFor(FIRST_CAPACITY)),
    size: 0,
    count: 0,
    freeOrdinals: { waiting: [], next: 0, keep: reuseOrdinalsAfter },
    columns,
    columnsByField,
    ids,
    idsAscend: true,
    lastId: Number.NEGATIVE_INFINITY,
    sources: [],
    links: { draft: new Map(), published: new Map() },
    components: new Map(),
    incoming: [],
    steps: { draft: new Map(), published: new Map() },
    scratch: [],
  };
}

/** Returns the ordinal of `key`. Creates a row if there is none. */
export function ensureRow(rowSet: RowSetIndex, key: number): number {
  const existing = rowSet.ordinals.get(key);
  if (existing !== undefined) return existing;
  const row = takeOrdinal(rowSet);
  rowSet.ordinals.set(key, row);
  rowSet.keys[row] = key;
  setBit(rowSet.present, row);
  rowSet.count++;
  return row;
}

/** Sets every field of a row. */
export function setFields(rowSet: RowSetIndex, row: number, fields: FieldValues): void {
  const oldId = sortValue(rowSet.ids, row);
  for (const column of rowSet.columns) {
    setColumnValue(column, row, fields[column.field] ?? null, rowSet.size);
  }
  const id = sortValue(rowSet.ids, row);
  if (rowSet.idsAscend && id !== oldId) noteId(rowSet, row, id, oldId === null);
}

/** Empties a row. The caller removes its links. */
export function removeRow(rowSet: RowSetIndex, row: number): void {
  for (const column of rowSet.columns) setColumnValue(column, row, null, rowSet.size);
  rowSet.ordinals.delete(rowSet.keys[row] as number);
  clearBit(rowSet.present, row);
  rowSet.count--;
  rowSet.freeOrdinals.waiting.push(row);
}

/** Returns the column of a field. Throws if the model does not have it. */
export function columnOf(rowSet: RowSetIndex, field: string): IndexedColumn {
  const column = rowSet.columnsByField.get(field);
  if (column === undefined) throw new Error(`${rowSet.model.uid} has no field ${field} in the read index`);
  return column;
}

/** Borrows an empty set for rows of this row set. Return it with `releaseBits`. */
export function borrowBits(rowSet: RowSetIndex): Bits {
  const words = wordsFor(rowSet.size);
  let bits = rowSet.scratch.pop();
  while (bits !== undefined && bits.length !== words) bits = rowSet.scratch.pop();
  return bits === undefined ? new Int32Array(words) : bits.fill(0);
}

/** Takes back a borrowed set. The caller must no longer use it. */
export function releaseBits(rowSet: RowSetIndex, bits: Bits): void {
  rowSet.scratch.push(bits);
}

function takeOrdinal(rowSet: RowSetIndex): number {
  const queue = rowSet.freeOrdinals;
  if (queue.waiting.length - queue.next > queue.keep) {
    const row = queue.waiting[queue.next++] as number;
    if (queue.next > 1024 && queue.next * 2 > queue.waiting.length) {
      queue.waiting = queue.waiting.slice(queue.next);
      queue.next = 0;
    }
    return row;
  }
  if (rowSet.size === rowSet.keys.length) grow(rowSet, rowSet.size * 2);
  return rowSet.size++;
}

function grow(rowSet: RowSetIndex, capacity: number): void {
  rowSet.keys = grown(rowSet.keys, new Float64Array(capacity));
  rowSet.present = growBits(rowSet.present, capacity);
  for (const column of rowSet.columns) growColumn(column, capacity);
}

function noteId(rowSet: RowSetIndex, row: number, id: unknown, isNew: boolean): void {
  if (isNew && row === rowSet.size - 1 && typeof id === 'number' && id > rowSet.lastId) rowSet.lastId = id;
  else rowSet.idsAscend = false;
}
