import type { SearchRequest, SearchResult } from '../../shared/read-index/read-index.ts';
import type { TextSearch } from '../../shared/read-index/text-search.ts';
import { splitWords } from '../../shared/search/split-words.ts';
import { languageOfQuery } from './text-search.ts';
import type { WordsPlan } from './words-meta.ts';

/** Maximum words of a query for which another one is proposed. Longer queries are questions: any of their words is enough. */
const MOST_WORDS = 4;
/** Maximum similar words that are considered in place of one word. */
const MOST_SIMILAR = 5;

/** A query to propose, and the number of entries that it finds. */
type Proposal = { readonly query: string; readonly typos: number; readonly rows: number };

type SearchOfWords = { readonly search: SearchRequest; readonly words?: WordsPlan };

/**
 * Returns a search that also looks for similar words, if a query may be proposed. A search without hits counts facets of another one, and gets
 * none. Similar words for a few found entries as well halved the rate of searches. Other words of a query that a rule has replaced would find
 * something else, because the rule would not count.
 */
export function withSimilarWords({ search, words }: SearchOfWords): SearchRequest {
  const { text, size } = search;
  if (size === 0 || text === undefined || !text.typoTolerance || words?.replacesWords === true) return search;
  const { length } = typedWords(text);
  if (length === 0 || length > MOST_WORDS) return search;
  return { ...search, text: { ...text, words: { kind: 'similar', limit: MOST_SIMILAR } } };
}

/**
 * Returns the query to type instead of one that found nothing: with a similar word in place of one word, or else without a word. It finds
 * entries within the same filters. Undefined if the search has found any, or there is no such query.
 */
export function suggestQuery(
  { text }: SearchRequest,
  { text: report, words: others }: SearchResult,
): string | undefined {
  if (text === undefined || others === undefined) return undefined;
  const corrected = typedWords(text).map((word) => report?.corrected.get(word) ?? word);
  const replaced = others.flatMap(({ place, words }): Proposal[] =>
    words.map(({ word, typos, rows }) => ({ query: joined(corrected.with(place, word)), typos, rows })),
  );
  const shorter = others.map(({ place, rows }): Proposal => {
    return { query: joined(corrected.toSpliced(place, 1)), typos: 0, rows };
  });
  const proposals = replaced.length > 0 ? replaced : shorter.filter(({ rows }) => rows > 0);
  // Equal proposals keep the order of the words.
  return proposals.toSorted((a, b) => a.typos - b.typos || b.rows - a.rows)[0]?.query;
}

function typedWords(text: TextSearch): readonly string[] {
  return splitWords(text.query, languageOfQuery(text)).map(({ word }) => word);
}

/** Joins words. Two words that were typed as two and corrected to one are one. */
function joined(words: readonly string[]): string {
  return words.filter((word, at) => word !== words[at - 1]).join(' ');
}
