import { assertNever } from '../../shared/assert-never.ts';
import { type AnswerWriter, writeByte, writeBytes, writeShort } from './answer-writer.ts';
import type { PopulatedValue, RowTree } from './row-tree.ts';

const COMMA = 0x2c;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const NULL = Buffer.from('null');

/** All rows of a level as a JSON list. */
export function writeList(writer: AnswerWriter, tree: RowTree): void {
  writePlaces(writer, tree, 0, tree.places?.length ?? tree.sources.length);
}

/** The row at `place`: its source as it is, populated attributes spliced in before the closing brace. */
export function writeRow(writer: AnswerWriter, tree: RowTree, place: number): void {
  const row = tree.places === null ? place : (tree.places[place] as number);
  writeBytes(writer, tree.sources[row] as Uint8Array);
  if (tree.attributes.length === 0) return;
  // Goes on over the brace.
  writer.length--;
  for (const { name, value } of tree.attributes) {
    writeShort(writer, name);
    writeValue(writer, value, row);
  }
  writeByte(writer, CLOSE_OBJECT);
}

function writeValue(writer: AnswerWriter, value: PopulatedValue, row: number): void {
  switch (value.kind) {
    case 'counts':
      writeShort(writer, Buffer.from(`{"count":${value.counts[row]}}`));
      break;
    case 'rows':
      writeEntries(writer, value, row);
      break;
    case 'zone':
      writeZone(writer, value, row);
      break;
    default:
      assertNever(value);
  }
}

function writeEntries(writer: AnswerWriter, value: PopulatedValue & { kind: 'rows' }, row: number): void {
  const start = value.starts[row] as number;
  const end = value.starts[row + 1] as number;
  if (value.toMany) writePlaces(writer, value.tree, start, end);
  else if (start === end) writeShort(writer, NULL);
  else writeRow(writer, value.tree, start);
}

function writeZone(writer: AnswerWriter, value: PopulatedValue & { kind: 'zone' }, row: number): void {
  const start = value.starts[row] as number;
  const end = value.starts[row + 1] as number;
  writeByte(writer, OPEN_LIST);
  for (const [i, { tree, place }] of value.components.slice(start, end).entries()) {
    if (i > 0) writeByte(writer, COMMA);
    writeRow(writer, tree, place);
  }
  writeByte(writer, CLOSE_LIST);
}

function writePlaces(writer: AnswerWriter, tree: RowTree, start: number, end: number): void {
  writeByte(writer, OPEN_LIST);
  for (let place = start; place < end; place++) {
    if (place > start) writeByte(writer, COMMA);
    writeRow(writer, tree, place);
  }
  writeByte(writer, CLOSE_LIST);
}
