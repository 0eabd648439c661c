import type { Scalar } from '../bool-query.ts';
import { foldText } from '../fold-text.ts';
import { type Bits, clearBit, growBits, setBit } from './bits.ts';
import { addNgrams, createNgramIndex, type NgramIndex, retireNgrams } from './ngram-index.ts';
import { addToPosting, createPostings, type Postings, postingCount, removeFromPosting } from './postings.ts';

/**
 * A column whose distinct values ("terms") are numbered: text, JSON texts, 64-bit integers, and the few distinct values of
 * a number column. What the text operators need (folded twins, n-grams) is made at first use and kept up to date from then on.
 */
export type TermColumn = {
  /** The text form of a term, see `textForm`. */
  readonly textOf: (term: Scalar) => string;
  /** By row; -1 = NULL. */
  terms: Int32Array;
  /** By term number; undefined = the number is free. */
  readonly values: (Scalar | undefined)[];
  readonly numbers: Map<Scalar, number>;
  readonly freeNumbers: number[];
  readonly postings: Postings;
  present: Bits;
  presentCount: number;
  /** Folded texts by term number, once a folding operator was used. */
  folded: (string | undefined)[] | undefined;
  /** By n-gram length. */
  readonly ngrams: (NgramIndex | undefined)[];
};

export function createTermColumn(textOf: (term: Scalar) => string, capacity: number): TermColumn {
  return {
    textOf,
    terms: new Int32Array(capacity).fill(-1),
    values: [],
    numbers: new Map(),
    freeNumbers: [],
    postings: createPostings(),
    present: growBits(new Int32Array(0), capacity),
    presentCount: 0,
    folded: undefined,
    ngrams: [],
  };
}

export function growTermColumn(column: TermColumn, capacity: number): void {
  const terms = new Int32Array(capacity).fill(-1, column.terms.length);
  terms.set(column.terms);
  column.terms = terms;
  column.present = growBits(column.present, capacity);
}

/** Sets a row's value; `rows` is the number of rows in the space. False when it was that value already. */
export function setTerm(column: TermColumn, row: number, value: Scalar | null, rows: number): boolean {
  const old = column.terms[row] as number;
  if (value === null) {
    if (old < 0) return false;
    leaveTerm(column, old, row);
    column.terms[row] = -1;
    clearBit(column.present, row);
    column.presentCount--;
    return true;
  }
  const known = column.numbers.get(value);
  if (known !== undefined && known === old) return false;
  if (old >= 0) leaveTerm(column, old, row);
  else {
    setBit(column.present, row);
    column.presentCount++;
  }
  const term = column.numbers.get(value) ?? internTerm(column, value);
  column.terms[row] = term;
  addToPosting(column.postings, term, row, rows);
  return true;
}

export function termValue(column: TermColumn, row: number): Scalar | null {
  const term = column.terms[row] as number;
  return term < 0 ? null : (column.values[term] ?? null);
}

/** How many distinct values there are. */
export function distinctTerms(column: TermColumn): number {
  return column.numbers.size;
}

/** The text form of a term, folded or not; undefined when its number is free. */
export function termText(column: TermColumn, term: number, fold: boolean): string | undefined {
  if (fold) return foldedTexts(column)[term];
  const value = column.values[term];
  return value === undefined ? undefined : column.textOf(value);
}

/** The index of folded n-grams of one length. */
export function ngramsOf(column: TermColumn, length: number): NgramIndex {
  const existing = column.ngrams[length];
  if (existing !== undefined) return existing;
  const index = createNgramIndex(length, distinctTerms(column));
  const texts = foldedTexts(column);
  for (let term = 0; term < texts.length; term++) {
    const text = texts[term];
    if (text !== undefined) addNgrams(index, term, text);
  }
  column.ngrams[length] = index;
  return index;
}

function foldedTexts(column: TermColumn): (string | undefined)[] {
  column.folded ??= column.values.map((value) =>
    value === undefined ? undefined : foldText(column.textOf(value)),
  );
  return column.folded;
}

function internTerm(column: TermColumn, value: Scalar): number {
  const term = column.freeNumbers.pop() ?? column.values.length;
  column.values[term] = value;
  column.numbers.set(value, term);
  if (column.folded !== undefined) {
    const text = foldText(column.textOf(value));
    column.folded[term] = text;
    for (const index of column.ngrams) if (index !== undefined) addNgrams(index, term, text);
  }
  return term;
}

function leaveTerm(column: TermColumn, term: number, row: number): void {
  removeFromPosting(column.postings, term, row);
  if (postingCount(column.postings, term) > 0) return;
  column.numbers.delete(column.values[term] as Scalar);
  column.values[term] = undefined;
  column.freeNumbers.push(term);
  if (column.folded === undefined) return;
  const text = column.folded[term] as string;
  column.folded[term] = undefined;
  for (const index of column.ngrams) {
    if (index !== undefined && retireNgrams(index, text)) column.ngrams[index.length] = undefined;
  }
}
