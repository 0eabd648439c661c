import type {
  AnswerScope,
  ReadIndex,
  SearchRequest,
  SearchResult,
} from '../../shared/read-index/read-index.ts';
import type { OtherWord, TextSearch } from '../../shared/read-index/text-search.ts';
import { foldWord } from '../../shared/search/fold-word.ts';
import { languageOf } from '../../shared/search/languages.ts';
import { splitWords } from '../../shared/search/split-words.ts';

/** Maximum words of a query for which another one is proposed. Longer queries are questions: any of their words is enough. */
const MOST_WORDS = 4;

/** A query to propose, and the number of entries that it finds. */
type Proposal = { readonly query: string; readonly typos: number; readonly rows: number };

/**
 * Returns the query to type instead of one that found nothing: with a similar word in place of one word, or else without a word. It finds
 * entries within the same filters. Undefined if the search has found any, or there is no such query. Proposals for a few found entries as
 * well halved the rate of searches.
 */
export async function suggestQuery(
  index: ReadIndex,
  search: SearchRequest,
  found: SearchResult,
  answer: AnswerScope,
): Promise<string | undefined> {
  const { text, size } = search;
  // A search without hits counts facets of another one.
  if (size === 0) return undefined;
  const total = wasShortened(search, found) ? 0 : totalOf(search, found);
  if (text === undefined || !text.typoTolerance || total !== 0) return undefined;
  const typed = splitWords(text.query, languageOfQuery(text)).map(({ word }) => word);
  if (typed.length === 0 || typed.length > MOST_WORDS) return undefined;
  const others = await Promise.all(
    typed.map((_, at) => askForWords(index, { ...search, text }, answer, withLast(typed, at))),
  );
  const corrected = typed.map((word) => found.text?.corrected.get(word) ?? word);
  const replaced = others.flatMap(({ words }, at): Proposal[] =>
    words.map(({ word, typos, rows }) => ({ query: joined(corrected.with(at, word)), typos, rows })),
  );
  const shorter = others.map(({ rows }, at): Proposal => {
    return { query: joined(corrected.toSpliced(at, 1)), typos: 0, rows };
  });
  const proposals = replaced.length > 0 ? replaced : shorter.filter(({ rows }) => rows > 0);
  // Equal proposals keep the order of the words.
  return proposals.toSorted((a, b) => a.typos - b.typos || b.rows - a.rows)[0]?.query;
}

/** Returns the number of found entries; undefined if it is not known. */
function totalOf({ from, size, cursor }: SearchRequest, { total, hits }: SearchResult): number | undefined {
  if (total !== undefined) return total;
  return from === 0 && cursor === undefined && hits.rows.length < size ? hits.rows.length : undefined;
}

/** Returns whether the search has dropped the last word, because no entry has all words. */
function wasShortened({ text }: SearchRequest, { text: report }: SearchResult): boolean {
  if (text === undefined || report === undefined) return false;
  const language = languageOf(languageOfQuery(text));
  const last = splitWords(text.query, language.locale).findLast(
    ({ word }) => !language.stopWords.has(foldWord(word)),
  );
  const terms = [...report.terms.values()].flat();
  return last !== undefined && !terms.some(({ typed }) => typed === last.word);
}

function languageOfQuery({ locales }: TextSearch): string {
  return locales === 'all' ? 'en' : (locales[0] ?? 'en');
}

/** Returns a query with one of the words at its end, as a complete word. */
function withLast(words: readonly string[], at: number): string {
  return `${[...words.toSpliced(at, 1), words[at]].join(' ')} `;
}

/** Joins words. Two words that were typed as two and corrected to one are one. */
function joined(words: readonly string[]): string {
  return words.filter((word, at) => word !== words[at - 1]).join(' ');
}

/** Maximum similar words that are considered in place of one word. */
const MOST_SIMILAR = 5;

async function askForWords(
  index: ReadIndex,
  { type, world, query, text }: SearchRequest & { readonly text: TextSearch },
  answer: AnswerScope,
  typed: string,
): Promise<{ readonly rows: number; readonly words: readonly OtherWord[] }> {
  const { words } = await index.search({
    type,
    world,
    query,
    answer,
    sort: [],
    from: 0,
    size: 0,
    withTotal: false,
    text: { ...text, query: typed, isRanked: false, words: { kind: 'similar', limit: MOST_SIMILAR } },
  });
  return words ?? { rows: 0, words: [] };
}
