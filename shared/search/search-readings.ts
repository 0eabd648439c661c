import { defined } from '../defined.ts';
import { remembered } from '../remembered.ts';
import type { SynonymGroups } from '../schema/content-type.ts';
import { exactTerms } from './exact-terms.ts';
import type { Language } from './languages.ts';
import {
  countRepeated,
  joinAndSplit,
  MOST_TERMS,
  type SearchTerm,
  type SearchTerms,
  termsOf,
  typedTerms,
  withoutStopWords,
} from './search-terms.ts';
import { type PhraseSynonyms, type Synonyms, synonymsIn } from './synonyms.ts';

/** Maximum terms of a reading with synonyms: as many as four words form if each is split. */
const MOST_IN_READING = 8;
/** Maximum readings of one query with synonyms. Readings with fewer replacements at the end of the query come first. */
const MOST_READINGS = 7;
/** Maximum words of a query in which phrases are searched. */
const MOST_WORDS = 20;

/** Query to read. `synonyms`: groups in addition to those of the content type. */
type ReadQuery = {
  readonly query: string;
  readonly typoTolerance: boolean;
  readonly synonyms?: readonly SynonymGroups[];
};

/**
 * Returns the readings of a query. The first reading has the words as typed. The others have synonyms of several words in their places. A
 * row matches if one reading matches it. A question has only one reading, which also has the terms of the synonyms.
 */
export function searchReadings(
  { query, typoTolerance, synonyms: added }: ReadQuery,
  language: Language,
  groups: readonly SynonymGroups[],
): readonly SearchTerms[] {
  const synonyms = synonymsIn(added === undefined ? groups : together(groups)(added), language.locale);
  const rules = { language, typoTolerance, ...defined({ synonyms }) };
  const typed = typedTerms(query, rules);
  const asTyped = termsOf(typed, rules);
  const replaced = synonyms === undefined ? [] : replacePhrases(typed, synonyms);
  if (replaced.length === 0) return [asTyped];
  if (asTyped.mode === 'any') {
    const known = new Set(asTyped.terms.map(({ stem }) => stem));
    const more = countRepeated(replaced.flat()).filter(({ stem }) => !known.has(stem));
    return [{ ...asTyped, terms: [...asTyped.terms, ...more].slice(0, MOST_TERMS) }];
  }
  const kept = replaced.map((terms) => withoutStopWords(terms, rules));
  const readings = kept.filter((terms) => terms.length <= MOST_IN_READING);
  return [asTyped, ...readings.map((terms): SearchTerms => ({ mode: 'all', terms: joinAndSplit(terms) }))];
}

/** Returns two lists of groups as one. It is the same object at every call, because synonyms are prepared once per object. */
const together = remembered((groups: readonly SynonymGroups[]) =>
  remembered((added: readonly SynonymGroups[]): readonly SynonymGroups[] => [...groups, ...added]),
);

/**
 * Returns the terms of a query with synonyms in place of phrases, in every combination up to a limit. Returns none if the query has no
 * phrases.
 */
function replacePhrases(
  typed: readonly SearchTerm[],
  { phrases }: Synonyms,
): readonly (readonly SearchTerm[])[] {
  if (phrases.size === 0 || typed.length > MOST_WORDS) return [];
  const found = typed.map(({ stem }, at) =>
    (phrases.get(stem) ?? []).filter(({ phrase }) => phrase.every((word, i) => typed[at + i]?.stem === word)),
  );
  // The first reading is the query as typed.
  return [...readingsFrom(0, { typed, found }).drop(1).take(MOST_READINGS)];
}

type Query = {
  readonly typed: readonly SearchTerm[];
  /** Phrases that begin at each word. */
  readonly found: readonly (readonly PhraseSynonyms[])[];
};

function* readingsFrom(at: number, query: Query): Generator<readonly SearchTerm[]> {
  const term = query.typed[at];
  if (term === undefined) {
    yield [];
    return;
  }
  for (const rest of readingsFrom(at + 1, query)) yield [term, ...rest];
  for (const { phrase, others } of query.found[at] ?? []) {
    for (const other of others) {
      // The synonym's terms get the place of the last word that they replace. So they are omitted together with that word.
      const place = at + phrase.length - 1;
      const replaced = exactTerms({ ...term, place, count: 1 }, other);
      for (const rest of readingsFrom(at + phrase.length, query)) yield [...replaced, ...rest];
    }
  }
}
