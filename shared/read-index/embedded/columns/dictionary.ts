import { rest } from '../../../turns/slice.ts';
import type { Scalar } from '../../bool-query.ts';
import { foldText } from '../../fold-text.ts';
import { grown } from '../lists/grown.ts';
import {
  addToPosting,
  createPostings,
  type Postings,
  postingCount,
  removeFromPosting,
} from '../lists/postings.ts';
import { addNgrams, createNgramIndex, type NgramIndex, retireNgrams } from './ngram-index.ts';

/**
 * Distinct values of a column, which are numbered ("terms"), and the rows of each. A query that needs rows, folded texts or n-grams adds
 * them. From then on, changes keep them up to date.
 */
export type Dictionary = {
  /** Returns the text form of a value (see `textForm`). */
  readonly textOf: (value: Scalar) => string;
  /** Term by row; -1 = NULL. */
  terms: Int32Array;
  /** Number of rows that have been added, from row 0 on; Infinity = all, including rows to come. */
  done: number;
  /** Value by term; undefined = the number is free. */
  readonly values: (Scalar | undefined)[];
  readonly numbers: Map<Scalar, number>;
  readonly freeNumbers: number[];
  readonly postings: Postings;
  /** Folded texts of the first terms; undefined = the number is free. */
  readonly folded: (string | undefined)[];
  /** Indices of n-grams, by their length. */
  readonly ngrams: (NgramIndex | undefined)[];
};

/** Cost of adding a row's value, in steps of a slice. */
const ENTRY_STEPS = 4;

/** Creates a dictionary without rows, with space for rows below `capacity`. `addRows` adds them. */
export function createDictionary(textOf: (value: Scalar) => string, capacity: number): Dictionary {
  return {
    textOf,
    terms: new Int32Array(capacity).fill(-1),
    done: 0,
    values: [],
    numbers: new Map(),
    freeNumbers: [],
    postings: createPostings(),
    folded: [],
    ngrams: [],
  };
}

/** Makes the dictionary long enough for rows below `capacity`. */
export function growDictionary(dictionary: Dictionary, capacity: number): void {
  const { terms } = dictionary;
  dictionary.terms = grown(terms, new Int32Array(capacity).fill(-1, terms.length));
}

/** Sets the value of a row that has been added; `rows` is the number of rows in the row set. Ignores rows that are added later. */
export function setTerm(dictionary: Dictionary, row: number, value: Scalar | null, rows: number): void {
  if (row < dictionary.done) putTerm(dictionary, row, value, rows);
}

function putTerm(dictionary: Dictionary, row: number, value: Scalar | null, rows: number): void {
  const old = dictionary.terms[row] as number;
  const known = value === null ? -1 : dictionary.numbers.get(value);
  if (known === old) return;
  if (old >= 0) leaveTerm(dictionary, old, row);
  const term = value === null ? -1 : (known ?? internTerm(dictionary, value));
  dictionary.terms[row] = term;
  if (term >= 0) addToPosting(dictionary.postings, term, row, rows);
}

/**
 * Adds all of `rows` rows. Stops if there are more than `most` distinct values. If a call ends with its slice, the next call continues, and
 * rows may change in between.
 */
export function addRows(
  dictionary: Dictionary,
  rows: number,
  valueAt: (row: number) => Scalar | null,
  most = Number.POSITIVE_INFINITY,
): void {
  while (dictionary.done < rows && distinctTerms(dictionary) <= most) {
    putTerm(dictionary, dictionary.done, valueAt(dictionary.done), rows);
    dictionary.done++;
    if ((dictionary.done & 63) === 0) rest(64 * ENTRY_STEPS);
  }
  dictionary.done = Number.POSITIVE_INFINITY;
}

/** Returns the value of a row; null if it has none. */
export function termValue(dictionary: Dictionary, row: number): Scalar | null {
  const term = dictionary.terms[row] as number;
  return term < 0 ? null : (dictionary.values[term] ?? null);
}

/** Returns the number of distinct values. */
export function distinctTerms(dictionary: Dictionary): number {
  return dictionary.numbers.size;
}

/** Returns the text form of a term, folded or not; undefined if its number is free. */
export function termText(dictionary: Dictionary, term: number, fold: boolean): string | undefined {
  if (fold) return foldedTexts(dictionary)[term];
  const value = dictionary.values[term];
  return value === undefined ? undefined : dictionary.textOf(value);
}

/** Returns the index of folded n-grams of one length. If a call ends with its slice, the next call continues. */
export function ngramsOf(dictionary: Dictionary, length: number): NgramIndex {
  const texts = foldedTexts(dictionary);
  dictionary.ngrams[length] ??= createNgramIndex(length, distinctTerms(dictionary));
  const index = dictionary.ngrams[length];
  while (index.done < texts.length) {
    const text = texts[index.done];
    if (text !== undefined) addNgrams(index, index.done, text);
    index.done++;
    rest(text?.length ?? 1);
  }
  return index;
}

/** Returns the folded texts of all terms. If a call ends with its slice, the next call continues. */
function foldedTexts({ folded, values, textOf }: Dictionary): readonly (string | undefined)[] {
  while (folded.length < values.length) {
    const value = values[folded.length];
    folded.push(value === undefined ? undefined : foldText(textOf(value)));
    if ((folded.length & 63) === 0) rest(64 * ENTRY_STEPS);
  }
  return folded;
}

function internTerm(dictionary: Dictionary, value: Scalar): number {
  const { values, numbers, folded, ngrams } = dictionary;
  const term = dictionary.freeNumbers.pop() ?? values.length;
  values[term] = value;
  numbers.set(value, term);
  if (term >= folded.length) return term;
  const text = foldText(dictionary.textOf(value));
  folded[term] = text;
  for (const index of ngrams) if (index !== undefined && term < index.done) addNgrams(index, term, text);
  return term;
}

function leaveTerm(
  { postings, values, numbers, freeNumbers, folded, ngrams }: Dictionary,
  term: number,
  row: number,
): void {
  removeFromPosting(postings, term, row);
  if (postingCount(postings, term) > 0) return;
  numbers.delete(values[term] as Scalar);
  values[term] = undefined;
  freeNumbers.push(term);
  const text = folded[term];
  if (text === undefined) return;
  folded[term] = undefined;
  for (const index of ngrams) {
    if (index !== undefined && term < index.done && retireNgrams(index, text))
      ngrams[index.length] = undefined;
  }
}
