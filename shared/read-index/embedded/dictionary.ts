import { rest } from '../../turns/slice.ts';
import type { Scalar } from '../bool-query.ts';
import { foldText } from '../fold-text.ts';
import { grown } from './grown.ts';
import { addNgrams, createNgramIndex, type NgramIndex, retireNgrams } from './ngram-index.ts';
import { addToPosting, createPostings, type Postings, postingCount, removeFromPosting } from './postings.ts';

/**
 * Distinct values of a column, which are numbered ("terms"), and the rows of each. Structures for text operators (folded texts, n-grams)
 * are built at first use, and kept up to date from then on.
 */
export type Dictionary = {
  /** Returns the text form of a value (see `textForm`). */
  readonly textOf: (value: Scalar) => string;
  /** Term by row; -1 = NULL. */
  terms: Int32Array;
  /** Value by term; undefined = the number is free. */
  readonly values: (Scalar | undefined)[];
  readonly numbers: Map<Scalar, number>;
  readonly freeNumbers: number[];
  readonly postings: Postings;
  /** Folded texts by term; undefined until a folding operator is used. */
  folded: (string | undefined)[] | undefined;
  /** Indices of n-grams, by their length. */
  readonly ngrams: (NgramIndex | undefined)[];
  /** Unfinished structures. They have the terms below their length, or below `done`. */
  makingFolded: (string | undefined)[] | undefined;
  readonly makingNgrams: (MakingNgrams | undefined)[];
};

type MakingNgrams = { readonly index: NgramIndex; done: number };

/** Cost of adding a row's value, in steps of a slice. */
const ENTRY_STEPS = 4;

/** Creates an empty dictionary for rows below `capacity`. `growDictionary` extends it. */
export function createDictionary(textOf: (value: Scalar) => string, capacity: number): Dictionary {
  return {
    textOf,
    terms: new Int32Array(capacity).fill(-1),
    values: [],
    numbers: new Map(),
    freeNumbers: [],
    postings: createPostings(),
    folded: undefined,
    ngrams: [],
    makingFolded: undefined,
    makingNgrams: [],
  };
}

/** Makes the dictionary long enough for rows below `capacity`. */
export function growDictionary(dictionary: Dictionary, capacity: number): void {
  const { terms } = dictionary;
  dictionary.terms = grown(terms, new Int32Array(capacity).fill(-1, terms.length));
}

/** Sets a row's value; `rows` is the number of rows in the row set. Returns false if the value is unchanged. */
export function setTerm(dictionary: Dictionary, row: number, value: Scalar | null, rows: number): boolean {
  const old = dictionary.terms[row] as number;
  const known = value === null ? -1 : dictionary.numbers.get(value);
  if (known === old) return false;
  if (old >= 0) leaveTerm(dictionary, old, row);
  const term = value === null ? -1 : (known ?? internTerm(dictionary, value));
  dictionary.terms[row] = term;
  if (term >= 0) addToPosting(dictionary.postings, term, row, rows);
  return true;
}

/**
 * A dictionary that is being built in slices. It has the rows below `done`, and keeps them up to date. Building stops if there are more
 * than `most` distinct values.
 */
export type UnfinishedDictionary = { readonly dictionary: Dictionary; readonly most: number; done: number };

/** Creates an unfinished dictionary without rows. */
export function startDictionary(
  textOf: (value: Scalar) => string,
  capacity: number,
  most = Number.POSITIVE_INFINITY,
): UnfinishedDictionary {
  return { dictionary: createDictionary(textOf, capacity), most, done: 0 };
}

/** Adds rows up to `end`. If a call ends with its slice, the next call continues. */
export function extendDictionary(
  making: UnfinishedDictionary,
  end: number,
  valueAt: (row: number) => Scalar | null,
  rows: number,
): void {
  while (making.done < end && distinctTerms(making.dictionary) <= making.most) {
    setTerm(making.dictionary, making.done, valueAt(making.done), rows);
    making.done++;
    if ((making.done & 63) === 0) rest(64 * ENTRY_STEPS);
  }
}

/** Sets a row's value in an unfinished dictionary, like `setTerm`. */
export function setUnfinishedTerm(
  { dictionary, done }: UnfinishedDictionary,
  row: number,
  value: Scalar | null,
  rows: number,
): void {
  if (row < done) setTerm(dictionary, row, value, rows);
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

/** Returns the index of folded n-grams of one length. It is built at first use. If a call ends with its slice, the next call continues. */
export function ngramsOf(dictionary: Dictionary, length: number): NgramIndex {
  const existing = dictionary.ngrams[length];
  if (existing !== undefined) return existing;
  const texts = foldedTexts(dictionary);
  dictionary.makingNgrams[length] ??= {
    index: createNgramIndex(length, distinctTerms(dictionary)),
    done: 0,
  };
  const making = dictionary.makingNgrams[length];
  while (making.done < texts.length) {
    const text = texts[making.done];
    if (text !== undefined) addNgrams(making.index, making.done, text);
    making.done++;
    rest(text?.length ?? 1);
  }
  dictionary.ngrams[length] = making.index;
  dictionary.makingNgrams[length] = undefined;
  return making.index;
}

function foldedTexts(dictionary: Dictionary): (string | undefined)[] {
  if (dictionary.folded !== undefined) return dictionary.folded;
  dictionary.makingFolded ??= [];
  const folded = dictionary.makingFolded;
  while (folded.length < dictionary.values.length) {
    folded.push(foldTerm(dictionary, folded.length));
    if ((folded.length & 63) === 0) rest(64 * ENTRY_STEPS);
  }
  dictionary.folded = folded;
  dictionary.makingFolded = undefined;
  return folded;
}

/** Returns the folded text of a term; undefined if its number is free. */
function foldTerm({ values, textOf }: Dictionary, term: number): string | undefined {
  const value = values[term];
  return value === undefined ? undefined : foldText(textOf(value));
}

function internTerm(dictionary: Dictionary, value: Scalar): number {
  const term = dictionary.freeNumbers.pop() ?? dictionary.values.length;
  dictionary.values[term] = value;
  dictionary.numbers.set(value, term);
  const { folded, makingFolded } = dictionary;
  if (folded === undefined) {
    if (makingFolded !== undefined && term < makingFolded.length)
      makingFolded[term] = foldTerm(dictionary, term);
    return term;
  }
  const text = foldText(dictionary.textOf(value));
  folded[term] = text;
  for (const index of dictionary.ngrams) if (index !== undefined) addNgrams(index, term, text);
  for (const making of dictionary.makingNgrams) {
    if (making !== undefined && term < making.done) addNgrams(making.index, term, text);
  }
  return term;
}

function leaveTerm(dictionary: Dictionary, term: number, row: number): void {
  removeFromPosting(dictionary.postings, term, row);
  if (postingCount(dictionary.postings, term) > 0) return;
  dictionary.numbers.delete(dictionary.values[term] as Scalar);
  dictionary.values[term] = undefined;
  dictionary.freeNumbers.push(term);
  const { makingFolded } = dictionary;
  if (makingFolded !== undefined && term < makingFolded.length) makingFolded[term] = undefined;
  if (dictionary.folded === undefined) return;
  const text = dictionary.folded[term] as string;
  dictionary.folded[term] = undefined;
  for (const index of dictionary.ngrams) {
    if (index !== undefined && retireNgrams(index, text)) dictionary.ngrams[index.length] = undefined;
  }
  for (const making of dictionary.makingNgrams) {
    if (making !== undefined && term < making.done) retireNgrams(making.index, text);
  }
}
