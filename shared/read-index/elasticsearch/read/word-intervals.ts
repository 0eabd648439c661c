import type { SearchField } from '../../../search/search-settings.ts';
import { type FoundWord, WORDS_FIELD } from '../layout/word-tokens.ts';
import type { Dsl, IntervalsDsl } from '../plan/dsl.ts';
import { type FoundPair, hasToken, patternOf, tokensOf } from './read-words.ts';

/**
 * Maximum characters of a pattern here. A pattern is a tenth as long as a list, and is needed for each distance. Long patterns cost
 * Elasticsearch more time.
 */
const LONGEST_PATTERN = 1_000;

/** Matches any of these words in any of these fields. */
export function anyWord(
  locale: string,
  words: readonly FoundWord[],
  fields: readonly SearchField[],
): IntervalsDsl {
  const pattern = patternOf(locale, words, fields);
  if (pattern !== undefined && pattern.length <= LONGEST_PATTERN) return { regexp: { pattern } };
  const intervals = tokensOf(locale, words, fields).map((query) => ({ match: { query } }));
  return { any_of: { intervals } };
}

/** Matches intervals that follow each other with at most `max_gaps` words between them. */
export function inSequence(intervals: readonly IntervalsDsl[], max_gaps: number): Dsl {
  return { intervals: { [WORDS_FIELD]: { all_of: { ordered: true, max_gaps, intervals } } } };
}

/** Matches documents that have one of the pairs. */
export function hasPair(fields: readonly SearchField[], locale: string, pairs: readonly FoundPair[]): Dsl {
  const split = fields.filter(({ kind }) => kind === 'text');
  const possible = split.length === 0 ? [] : pairs;
  const queries = possible.map(({ first, second }) =>
    inSequence([anyWord(locale, first, split), anyWord(locale, second, split)], 0),
  );
  return oneOf(queries);
}

/** Matches documents that any of the queries matches. */
export function oneOf(queries: readonly Dsl[]): Dsl {
  const possible = queries.filter((query) => !('match_none' in query));
  const [only] = possible;
  // Elasticsearch would match everything with an empty list.
  if (only === undefined) return hasToken([]);
  return possible.length === 1 ? only : { bool: { should: possible, minimum_should_match: 1 } };
}
