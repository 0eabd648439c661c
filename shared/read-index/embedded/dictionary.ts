import type { Scalar } from '../bool-query.ts';
import { foldText } from '../fold-text.ts';
import { addNgrams, createNgramIndex, type NgramIndex, retireNgrams } from './ngram-index.ts';
import { addToPosting, createPostings, type Postings, postingCount, removeFromPosting } from './postings.ts';

/**
 * The distinct values of a column, numbered ("terms"), and the rows of each. What the text operators need (folded twins,
 * n-grams) is made at first use and kept up to date from then on.
 */
export type Dictionary = {
  /** The text form of a value, see `textForm`. */
  readonly textOf: (value: Scalar) => string;
  /** By row; -1 = NULL. */
  terms: Int32Array;
  /** By term; undefined = the number is free. */
  readonly values: (Scalar | undefined)[];
  readonly numbers: Map<Scalar, number>;
  readonly freeNumbers: number[];
  readonly postings: Postings;
  /** Folded texts by term, once a folding operator was used. */
  folded: (string | undefined)[] | undefined;
  /** By n-gram length. */
  readonly ngrams: (NgramIndex | undefined)[];
};

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
  };
}

export function growDictionary(dictionary: Dictionary, capacity: number): void {
  const terms = new Int32Array(capacity).fill(-1, dictionary.terms.length);
  terms.set(dictionary.terms);
  dictionary.terms = terms;
}

/** Sets a row's value; `rows` is the number of rows in the space. False when it was that value already. */
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

export function termValue(dictionary: Dictionary, row: number): Scalar | null {
  const term = dictionary.terms[row] as number;
  return term < 0 ? null : (dictionary.values[term] ?? null);
}

/** How many distinct values there are. */
export function distinctTerms(dictionary: Dictionary): number {
  return dictionary.numbers.size;
}

/** The text form of a term, folded or not; undefined when its number is free. */
export function termText(dictionary: Dictionary, term: number, fold: boolean): string | undefined {
  if (fold) return foldedTexts(dictionary)[term];
  const value = dictionary.values[term];
  return value === undefined ? undefined : dictionary.textOf(value);
}

/** The index of folded n-grams of one length. */
export function ngramsOf(dictionary: Dictionary, length: number): NgramIndex {
  const existing = dictionary.ngrams[length];
  if (existing !== undefined) return existing;
  const index = createNgramIndex(length, distinctTerms(dictionary));
  foldedTexts(dictionary).forEach((text, term) => {
    if (text !== undefined) addNgrams(index, term, text);
  });
  dictionary.ngrams[length] = index;
  return index;
}

function foldedTexts(dictionary: Dictionary): (string | undefined)[] {
  dictionary.folded ??= dictionary.values.map((_, term) => foldTerm(dictionary, term));
  return dictionary.folded;
}

/** A term's text, folded; undefined when its number is free. */
export function foldTerm({ values, textOf }: Dictionary, term: number): string | undefined {
  const value = values[term];
  return value === undefined ? undefined : foldText(textOf(value));
}

function internTerm(dictionary: Dictionary, value: Scalar): number {
  const term = dictionary.freeNumbers.pop() ?? dictionary.values.length;
  dictionary.values[term] = value;
  dictionary.numbers.set(value, term);
  if (dictionary.folded !== undefined) {
    const text = foldText(dictionary.textOf(value));
    dictionary.folded[term] = text;
    for (const index of dictionary.ngrams) if (index !== undefined) addNgrams(index, term, text);
  }
  return term;
}

function leaveTerm(dictionary: Dictionary, term: number, row: number): void {
  removeFromPosting(dictionary.postings, term, row);
  if (postingCount(dictionary.postings, term) > 0) return;
  dictionary.numbers.delete(dictionary.values[term] as Scalar);
  dictionary.values[term] = undefined;
  dictionary.freeNumbers.push(term);
  if (dictionary.folded === undefined) return;
  const text = dictionary.folded[term] as string;
  dictionary.folded[term] = undefined;
  for (const index of dictionary.ngrams) {
    if (index !== undefined && retireNgrams(index, text)) dictionary.ngrams[index.length] = undefined;
  }
}
