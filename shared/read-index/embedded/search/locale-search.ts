import { compoundRules } from '../../../search/compound-rules.ts';
import { splitTerms } from '../../../search/exact-terms.ts';
import { searchReadings } from '../../../search/search-readings.ts';
import {
  allowAnotherTypo,
  asTyped,
  type SearchMode,
  type SearchTerm,
  type SearchTerms,
  splitsOf,
} from '../../../search/search-terms.ts';
import { createSequence } from '../../../turns/sequence.ts';
import { rest } from '../../../turns/slice.ts';
import type { TextSearch } from '../../text-search.ts';
import { type Bits, countBits } from '../lists/bits.ts';
import { collectPosting, countRows, postingCount } from '../lists/postings.ts';
import { borrowBits } from '../rows/row-set.ts';
import { createExpansion, wordsOfTerm } from '../words/expand-term.ts';
import type { LocaleText } from '../words/locale-text.ts';
import type { TextIndex } from '../words/text-index.ts';
import { type Expansion, wordsFolded } from '../words/vocabulary.ts';
import { createPairRows, type KnownPair, knownPairs } from '../words/word-pairs.ts';
import { createCompounds } from './find-compounds.ts';

/**
 * A term of a query in one locale, with the words that match it. `rows` have one of these words, or two neighbouring words that form the
 * term.
 */
export type LocaleTerm = {
  readonly term: SearchTerm;
  readonly expansion: Expansion;
  readonly pairs: readonly KnownPair[];
  readonly rows: Bits;
};

/** Search for a query in the rows of one locale. */
export type LocaleSearch = {
  readonly text: LocaleText;
  readonly mode: SearchMode;
  readonly terms: readonly LocaleTerm[];
  /** True for each field, by number, that is searched. */
  readonly isSearched: readonly boolean[];
};

/** Creates one search for each reading of the query. If a call ends with its slice, the next call continues. */
export function createLocaleSearches(
  index: TextIndex,
  text: LocaleText,
  search: TextSearch,
): readonly (() => LocaleSearch)[] {
  const isSearched = index.fields.map(({ name }) => search.fields?.has(name) ?? true);
  return searchReadings(search, text.vocabulary.language, index.settings.synonyms).map((reading) =>
    createLocaleSearch(index, text, isSearched, reading),
  );
}

function createLocaleSearch(
  index: TextIndex,
  text: LocaleText,
  isSearched: readonly boolean[],
  { mode, terms }: SearchTerms,
): () => LocaleSearch {
  const wanted = mode === 'all' ? terms : terms.map((term) => withoutGuesses(text, isSearched, term));
  const find = createSequence(wanted.map((term) => createLocaleTerm(index, text, isSearched, term)));
  return () => ({ text, mode, terms: find().flat(), isSearched });
}

/**
 * Finds a term as it was typed. If no row has it, finds it with one typo more, and then as two words. If a call ends with its slice, the
 * next call continues.
 */
export function createLocaleTerm(
  index: TextIndex,
  text: LocaleText,
  isSearched: readonly boolean[],
  term: SearchTerm,
): () => readonly LocaleTerm[] {
  const create = (meant: SearchTerm) => createMeantTerm(index, text, isSearched, meant);
  let guessed = allowAnotherTypo(term);
  let find = create(term);
  let parts: readonly (() => LocaleTerm)[] | undefined;
  return () => {
    let found = find();
    if (countBits(found.rows) === 0 && guessed !== undefined) {
      find = create(guessed);
      guessed = undefined;
      found = find();
    }
    if (countBits(found.rows) > 0) return [found];
    // A short query has already searched for pairs.
    parts ??= (term.splits.length > 0 ? [] : (splitKnown(text, isSearched, term) ?? [])).map(create);
    // If a slice ends here, finished parts are not computed again.
    return parts.length === 0 ? [found] : parts.map((part) => part());
  };
}

/** Finds the rows of a term without changes. After the last slice, each call returns the same result. */
function createMeantTerm(
  index: TextIndex,
  text: LocaleText,
  isSearched: readonly boolean[],
  term: SearchTerm,
): () => LocaleTerm {
  const rules = compoundRules(text.locale, index.settings.compounds);
  const findCompounds = createCompounds(text, isSearched, rules, term);
  let meant: SearchTerm | undefined;
  let expand: (() => Expansion) | undefined;
  const collect = createRows(index, text, isSearched);
  const pairs = knownPairs(text.vocabulary, term);
  const pending = pairs.map((pair) => createPairRows(index, text, isSearched, pair));
  let added = 0;
  return () => {
    meant ??= findCompounds();
    expand ??= createExpansion(text.vocabulary, meant);
    const expansion = expand();
    const rows = collect(expansion.words);
    for (; added < pending.length; added++) (pending[added] as (into: Bits) => void)(rows);
    return { term: meant, expansion, pairs, rows };
  };
}

/** Returns the two words into which a term may be split, if rows have both. */
function splitKnown(
  { vocabulary, postings }: LocaleText,
  isSearched: readonly boolean[],
  term: SearchTerm,
): readonly SearchTerm[] | undefined {
  const has = (folded: string) =>
    wordsFolded(vocabulary, folded).some((word) => countRows(postings, isSearched, word) > 0);
  const split = splitsOf(term).find((parts) => parts.every(has));
  return split && splitTerms(term, split, vocabulary.language);
}

/** Returns the term for exact matches, if rows have the word. */
function withoutGuesses(
  { vocabulary, postings }: LocaleText,
  isSearched: readonly boolean[],
  term: SearchTerm,
): SearchTerm {
  // Only the searched fields count, because the result must not reveal a word that only other fields have.
  const isKnown = wordsOfTerm(vocabulary, term).some((word) => countRows(postings, isSearched, word) > 0);
  return isKnown ? asTyped(term) : term;
}

/** Collects the rows that have one of some words. If a call ends with its slice, the next call continues. */
export function createRows(
  { rowSet }: TextIndex,
  { postings }: LocaleText,
  isSearched: readonly boolean[],
): (words: readonly number[]) => Bits {
  let rows: Bits | undefined;
  let next = 0;
  return (words) => {
    rows ??= borrowBits(rowSet);
    while (next < words.length) {
      const word = words[next++] as number;
      let steps = 1;
      for (const [field, posting] of postings.entries()) {
        if (isSearched[field] !== true) continue;
        collectPosting(posting, word, rows);
        steps += Math.min(postingCount(posting, word), rows.length);
      }
      rest(steps);
    }
    return rows;
  };
}
