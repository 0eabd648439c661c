import { assertNever } from '../../shared/assert-never.ts';
import { rest } from '../../shared/turns/slice.ts';
import { type AnswerWriter, writeByte, writeBytes, writeShort } from './answer-writer.ts';
import type { PopulatedAttribute, PopulatedValue, RowTree, ZoneEntry } from './row-tree.ts';

const COMMA = 0x2c;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const NULL = Buffer.from('null');
/** Bytes that are copied in the time of one step of a slice, as a power of two. */
const BYTES_PER_STEP = 7;
/** Maximum number of rows without populated attributes that are written in one piece. */
const FEW_ROWS = 64;

/** Rows that are being written one after the other. A stack of these is the remaining work. */
type Writing = {
  /** Source of the positions: a tree, or entries of a dynamic zone. */
  readonly tree: RowTree | undefined;
  readonly zone: readonly ZoneEntry[];
  readonly start: number;
  readonly end: number;
  readonly isList: boolean;
  place: number;
  /** Next attribute of the row at `place`; -1: writing of the row has not begun. */
  attribute: number;
};

/** Writes all rows of a level as a JSON list. If a call ends with its slice, the next one continues. */
export function createListWriting(tree: RowTree): (writer: AnswerWriter) => void {
  const rows = rowsOf(tree, 0, tree.places?.length ?? tree.sources.length, true);
  return createWriting(rows);
}

/** Writes the row at `place`. */
export function createRowWriting(tree: RowTree, place: number): (writer: AnswerWriter) => void {
  return createWriting(rowsOf(tree, place, place + 1, false));
}

function createWriting(rows: Writing): (writer: AnswerWriter) => void {
  const stack = [rows];
  let isOpen = false;
  return (writer) => {
    if (!isOpen && rows.isList) writeByte(writer, OPEN_LIST);
    isOpen = true;
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      if (top.attribute >= 0) goOnWithRow(writer, top, stack);
      else if (top.place < top.end) beginRow(writer, top);
      else {
        if (top.isList) writeByte(writer, CLOSE_LIST);
        stack.pop();
      }
    }
  };
}

/** Writes the source of a row unchanged. Populated attributes are inserted before the closing brace. */
function beginRow(writer: AnswerWriter, writing: Writing): void {
  const tree = treeAt(writing);
  const row = rowAt(writing, tree);
  const source = tree.sources[row] as Uint8Array;
  if (writing.place > writing.start) writeByte(writer, COMMA);
  writeBytes(writer, source);
  if (tree.attributes.length === 0) writing.place++;
  else {
    // The first attribute overwrites the closing brace.
    writer.length--;
    writing.attribute = 0;
  }
  rest(1 + (source.length >>> BYTES_PER_STEP));
}

/** Writes attributes up to the next one that has rows. Puts those rows on the stack, unless they are few. */
function goOnWithRow(writer: AnswerWriter, writing: Writing, stack: Writing[]): void {
  const tree = treeAt(writing);
  const row = rowAt(writing, tree);
  const { attributes } = tree;
  while (writing.attribute < attributes.length) {
    const { name, value } = attributes[writing.attribute++] as PopulatedAttribute;
    writeShort(writer, name);
    if (writeFew(writer, value, row)) continue;
    const rows = writeValue(writer, value, row);
    if (rows === undefined) continue;
    if (rows.isList) writeByte(writer, OPEN_LIST);
    stack.push(rows);
    return;
  }
  writeByte(writer, CLOSE_OBJECT);
  writing.place++;
  writing.attribute = -1;
}

/** Writes the rows if they are few. Returns false if there are many, or if they have populated attributes. */
function writeFew(writer: AnswerWriter, value: PopulatedValue, row: number): boolean {
  if (value.kind !== 'rows' || value.tree.attributes.length > 0) return false;
  const { toMany, starts, tree } = value;
  const start = starts[row] as number;
  const end = starts[row + 1] as number;
  if (end - start > FEW_ROWS || (start === end && !toMany)) return false;
  if (toMany) writeByte(writer, OPEN_LIST);
  for (let place = start; place < end; place++) {
    if (place > start) writeByte(writer, COMMA);
    const at = tree.places === null ? place : (tree.places[place] as number);
    writeBytes(writer, tree.sources[at] as Uint8Array);
  }
  if (toMany) writeByte(writer, CLOSE_LIST);
  rest(end - start);
  return true;
}

function treeAt({ tree, zone, place }: Writing): RowTree {
  return tree ?? (zone[place] as ZoneEntry).tree;
}

function rowAt({ tree, zone, place }: Writing, { places }: RowTree): number {
  const at = tree === undefined ? (zone[place] as ZoneEntry).place : place;
  return places === null ? at : (places[at] as number);
}

/** Writes a populated value, and returns the rows to write next, if there are any. */
function writeValue(writer: AnswerWriter, value: PopulatedValue, row: number): Writing | undefined {
  if (value.kind === 'counts') {
    writeShort(writer, Buffer.from(`{"count":${value.counts[row]}}`));
    return undefined;
  }
  const start = value.starts[row] as number;
  const end = value.starts[row + 1] as number;
  switch (value.kind) {
    case 'rows':
      if (value.toMany) return rowsOf(value.tree, start, end, true);
      if (start < end) return rowsOf(value.tree, start, start + 1, false);
      writeShort(writer, NULL);
      return undefined;
    case 'zone':
      return { ...rowsOf(undefined, start, end, true), zone: value.components };
    default:
      return assertNever(value);
  }
}

function rowsOf(tree: RowTree | undefined, start: number, end: number, isList: boolean): Writing {
  return { tree, zone: [], start, end, isList, place: start, attribute: -1 };
}
