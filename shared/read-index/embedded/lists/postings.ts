import {
  type Bits,
  clearBit,
  countBits,
  countCommonBits,
  growBits,
  hasBit,
  orBits,
  selectRows,
  setBit,
  setBits,
  wordsFor,
} from './bits.ts';
import { ROW_COST, WORD_COST } from './costs.ts';
import {
  appendToList,
  clearList,
  createRowLists,
  indexInList,
  listCount,
  listEntry,
  type RowLists,
  removeBySwap,
} from './row-lists.ts';

/**
 * Rows of each term. A few rows are an unsorted list. Many rows, more than one in 32 of all, are bits. Collecting into bits needs no order,
 * so rows are added and removed in place: no tombstones, no compaction.
 */
export type Postings = {
  readonly lists: RowLists;
  readonly dense: (DensePosting | undefined)[];
};

type DensePosting = { bits: Bits; count: number };

const DENSE_FROM = 128;
/**
 * Rows below which a dense posting becomes a list again. It is a quarter of the threshold, so that a term near the threshold does not
 * change back and forth.
 */
const SPARSE_BELOW = 32;

/** Creates postings without terms. */
export function createPostings(): Postings {
  return { lists: createRowLists(false), dense: [] };
}

/** Returns whether a posting with this many rows among all rows is kept as bits. */
function isDense(count: number, rows: number): boolean {
  return count >= DENSE_FROM && count * 32 > rows;
}

/** Returns the number of rows of a term. */
export function postingCount(postings: Postings, term: number): number {
  return postings.dense[term]?.count ?? listCount(postings.lists, term);
}

/** Adds a row to a term. `rows` is the number of rows in the row set, including deleted ones. */
export function addToPosting(postings: Postings, term: number, row: number, rows: number): void {
  const dense = postings.dense[term];
  if (dense !== undefined && addToDense(dense, row, rows)) return;
  if (dense !== undefined) makeSparse(postings, term, dense);
  appendToList(postings.lists, term, row);
  const count = listCount(postings.lists, term);
  if (isDense(count, rows)) makeDense(postings, term, rows);
}

/** Adds a row to a dense posting. Returns false if the row set has grown and the term is no longer dense in it. */
function addToDense(dense: DensePosting, row: number, rows: number): boolean {
  if (row >>> 5 >= dense.bits.length) {
    if (dense.count * 128 < rows) return false;
    dense.bits = growBits(dense.bits, Math.ceil(Math.max(row + 1, rows) * 1.25));
  }
  setBit(dense.bits, row);
  dense.count++;
  return true;
}

/** Removes a row, which the term must have. */
export function removeFromPosting(postings: Postings, term: number, row: number): void {
  const dense = postings.dense[term];
  if (dense === undefined) {
    removeBySwap(postings.lists, term, indexInList(postings.lists, term, row));
    return;
  }
  clearBit(dense.bits, row);
  dense.count--;
  if (dense.count < SPARSE_BELOW) makeSparse(postings, term, dense);
}

/** Adds the rows of the term to `into`. */
export function collectPosting(postings: Postings, term: number, into: Bits): void {
  const dense = postings.dense[term];
  if (dense !== undefined) orBits(into, dense.bits);
  else collectList(postings.lists, term, into);
}

/** Returns the number of rows of the term among `within`. */
export function countWithin({ lists, dense }: Postings, term: number, within: Bits): number {
  const own = dense[term];
  if (own !== undefined) return countCommonBits(own.bits, within);
  let rows = 0;
  for (let at = 0; at < listCount(lists, term); at++) if (hasBit(within, listEntry(lists, term, at))) rows++;
  return rows;
}

/** Returns whether a posting is sparse and has at most `most` rows. */
export function hasFewRows({ lists, dense }: Postings, term: number, most: number): boolean {
  return dense[term] === undefined && listCount(lists, term) <= most;
}

/** Adds the entries of the list to `into`. */
function collectList(lists: RowLists, list: number, into: Bits): void {
  const count = listCount(lists, list);
  if (count === 0) return;
  const head = lists.heads[list] as number;
  if (count === 1) {
    setBit(into, head);
    return;
  }
  setBits(into, lists.pool, head, head + count);
}

/** Returns the approximate nanoseconds for collecting the term's rows. */
export function postingCost(postings: Postings, term: number): number {
  const dense = postings.dense[term];
  return dense === undefined ? listCount(postings.lists, term) * ROW_COST : dense.bits.length * WORD_COST;
}

function makeDense(postings: Postings, term: number, rows: number): void {
  const bits = new Int32Array(wordsFor(Math.ceil(rows * 1.25)));
  collectList(postings.lists, term, bits);
  clearList(postings.lists, term);
  postings.dense[term] = { bits, count: countBits(bits) };
}

function makeSparse(postings: Postings, term: number, dense: DensePosting): void {
  postings.dense[term] = undefined;
  for (const row of selectRows(dense.bits, 0, dense.count)) appendToList(postings.lists, term, row);
}

/** Returns the number of rows with a word. A row counts once for each searched field. */
export function countRows(
  postings: readonly Postings[],
  isSearched: readonly boolean[],
  word: number,
): number {
  let rows = 0;
  for (const [field, posting] of postings.entries())
    if (isSearched[field] === true) rows += postingCount(posting, word);
  return rows;
}
