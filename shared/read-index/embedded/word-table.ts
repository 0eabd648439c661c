import { grown } from './grown.ts';

/**
 * Hash table from a text of a word (key, folded form or stem) to the word's number. It has chains of numbers in two arrays. A map would
 * have to be built at each start, which takes several times as long as reading the words. `textOf` returns the text of a number.
 */
export type WordTable = TableArrays & {
  /** Number of entries in the table. */
  count: number;
  readonly textOf: (number: number) => string;
};

/** The arrays of a table, as they are stored. */
export type TableArrays = {
  /** First number of the chain, by hash; -1 = none. The length is a power of two. */
  heads: Int32Array;
  /** Next number of the chain, by number. */
  next: Int32Array;
};

const FIRST_HEADS = 64;
const NO_NUMBER = -1;

/** Creates a table without numbers. */
export function createWordTable(textOf: (number: number) => string): WordTable {
  return {
    heads: new Int32Array(FIRST_HEADS).fill(NO_NUMBER),
    next: new Int32Array(FIRST_HEADS),
    count: 0,
    textOf,
  };
}

/** Makes an empty table use stored arrays with `count` numbers, without a copy. */
export function fillTable(table: WordTable, { heads, next }: TableArrays, count: number): void {
  Object.assign(table, { heads, next, count });
}

/** Adds a number that the table does not have. Numbers should be small, because memory grows with the highest. */
export function addToTable(table: WordTable, text: string, number: number): void {
  if (table.count >= table.heads.length) growHeads(table);
  if (number >= table.next.length) {
    table.next = grown(table.next, new Int32Array(Math.max(FIRST_HEADS, number * 2)));
  }
  link(table, text, number);
  table.count++;
}

/** Removes a number that was added with this text. */
export function removeFromTable(table: WordTable, text: string, number: number): void {
  unlink(table, slotOf(table.heads, text), number);
  table.count--;
}

/** Removes a number from the chain that begins at a head. */
export function unlink({ heads, next }: TableArrays, head: number, number: number): void {
  const behind = next[number] as number;
  let before = heads[head] as number;
  if (before === number) {
    heads[head] = behind;
    return;
  }
  while (next[before] !== number) before = next[before] as number;
  next[before] = behind;
}

/** Returns the number of a text, if at most one word has this text. */
export function numberOf({ heads, next, textOf }: WordTable, text: string): number | undefined {
  let number = heads[slotOf(heads, text)] as number;
  while (number !== NO_NUMBER && textOf(number) !== text) number = next[number] as number;
  return number === NO_NUMBER ? undefined : number;
}

/** Returns the numbers with a text. */
export function numbersOf({ heads, next, textOf }: WordTable, text: string): readonly number[] {
  const found: number[] = [];
  for (
    let number = heads[slotOf(heads, text)] as number;
    number !== NO_NUMBER;
    number = next[number] as number
  )
    if (textOf(number) === text) found.push(number);
  return found;
}

function link({ heads, next }: TableArrays, text: string, number: number): void {
  const slot = slotOf(heads, text);
  next[number] = heads[slot] as number;
  heads[slot] = number;
}

function growHeads(table: WordTable): void {
  const { heads, next, textOf } = table;
  table.heads = new Int32Array(heads.length * 2).fill(NO_NUMBER);
  for (const first of heads) {
    let number = first;
    while (number !== NO_NUMBER) {
      const behind = next[number] as number;
      link(table, textOf(number), number);
      number = behind;
    }
  }
}

/** Returns the head of a text. The hash is the same in all processes, because the arrays are stored. */
function slotOf({ length }: Int32Array, text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) & (length - 1);
}
