import { defined } from '../../shared/defined.ts';
import { entryOfSource } from '../../shared/read-index/entry-of-source.ts';
import type { ReadIndex, SearchResult } from '../../shared/read-index/read-index.ts';
import { splitWords } from '../../shared/search/split-words.ts';
import { TURNS, taskOf } from '../../shared/turns/turns.ts';
import type { AnswerOptions } from './answer-list.ts';
import type { SuggestPlan } from './plan-suggest.ts';
import { languageOfQuery } from './text-search.ts';
import { createHighlights, createWordsMeta, type WordsPlan } from './words-meta.ts';

/** A completed query, and the number of entries that it finds. */
type SuggestedWord = { readonly text: string; readonly count: number };

/**
 * Answers suggestions: `{"data":{"words":[…],"titles":[…]},"meta":{"total":…,"search":…,"facets":…}}`. A text without words gets no
 * suggestions. Everything is found by one search with the caller's rights.
 */
export function answerSuggest(
  index: ReadIndex,
  plan: SuggestPlan,
  options: AnswerOptions = {},
): Promise<Buffer> {
  const { list, limit } = plan;
  const { words } = list;
  const { text } = list.search;
  // A rule's filter may count in place of all words.
  if (words === undefined || (text === undefined && !words.replacesWords)) return Promise.resolve(NOTHING);
  return index.answer(async (answer) => {
    const completed = text && { ...text, words: { kind: 'completed', limit } as const };
    const found = await index.search({ ...list.search, answer, ...defined({ text: completed }) });
    const task = taskOf(answer);
    const members = await TURNS.finish(task, () =>
      createWordsMeta({ ...words, highlights: undefined }, found),
    );
    const marked = await TURNS.finish(task, () => markTitles(words, found));
    options.shown?.({ type: list.type.uid, path: [] }, list.search.world, found.hits, list.selection);
    const data = { words: wordsOf(plan, found), titles: titlesOf(plan, found, JSON.parse(marked)) };
    const meta = `${found.total === undefined ? '' : `,"total":${found.total}`}${members}`;
    return Buffer.from(`{"data":${JSON.stringify(data)},"meta":{${meta.slice(1)}}}`);
  }, options);
}

const NOTHING = Buffer.from(JSON.stringify({ data: { words: [], titles: [] }, meta: { total: 0 } }));

type Marked = { readonly [row: string]: { readonly [attribute: string]: string } };

/** Creates the highlighted titles by entry, as JSON. */
function markTitles(words: WordsPlan, { hits, text }: SearchResult): () => string {
  const { highlights } = words;
  return highlights === undefined ? () => '{}' : createHighlights(words, highlights, hits.sources, text);
}

/** Returns the typed text with each of the found words in place of its last word. */
function wordsOf({ typed, list }: SuggestPlan, { words }: SearchResult): readonly SuggestedWord[] {
  const { text } = list.search;
  const last = text && splitWords(typed, languageOfQuery(text)).at(-1);
  if (last === undefined) return [];
  const before = typed.slice(0, last.start).trimStart();
  return (words?.[0]?.words ?? []).map(({ word, rows }) => ({ text: before + word, count: rows }));
}

/** Returns the titles of the best entries. Entries without a title are omitted. */
function titlesOf({ title, list }: SuggestPlan, { hits }: SearchResult, marked: Marked): readonly object[] {
  if (title === undefined) return [];
  return hits.sources.flatMap((source) => {
    const row = entryOfSource(source);
    const { documentId, locale } = row;
    if (typeof row[title] !== 'string') return [];
    const isOneOfMany = list.words?.manyLocales === true && locale !== undefined;
    const highlighted = marked[isOneOfMany ? `${documentId}:${locale}` : documentId]?.[title];
    return [{ documentId, locale, title: row[title], highlighted }];
  });
}
