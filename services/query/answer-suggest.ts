import { entryOfSource } from '../../shared/read-index/entry-of-source.ts';
import type { ReadIndex, SearchResult } from '../../shared/read-index/read-index.ts';
import { splitWords } from '../../shared/search/split-words.ts';
import { TURNS, taskOf } from '../../shared/turns/turns.ts';
import type { AnswerOptions } from './answer-list.ts';
import type { SuggestPlan } from './plan-suggest.ts';
import { languageOfQuery } from './text-search.ts';
import { createWordsMeta } from './words-meta.ts';

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
  const { text } = list.search;
  if (text === undefined || list.words === undefined) return Promise.resolve(NOTHING);
  const { words: members } = list;
  return index.answer(async (answer) => {
    const search = {
      ...list.search,
      answer,
      text: { ...text, words: { kind: 'completed', limit } as const },
    };
    const found = await index.search(search);
    const create = createWordsMeta(members, found);
    const json = await TURNS.finish(taskOf(answer), () => create);
    const { highlights, ...meta } = JSON.parse(`{${json.slice(1)}}`) as Meta;
    options.shown?.({ type: list.type.uid, path: [] }, list.search.world, found.hits, list.selection);
    const data = { words: wordsOf(plan, found), titles: titlesOf(plan, found, highlights) };
    return Buffer.from(JSON.stringify({ data, meta: { total: found.total, ...meta } }));
  }, options);
}

const NOTHING = Buffer.from(JSON.stringify({ data: { words: [], titles: [] }, meta: { total: 0 } }));

type Meta = {
  readonly highlights?: { readonly [row: string]: { readonly [attribute: string]: string } };
  readonly [member: string]: unknown;
};

/** Returns the typed text with each of the found words in place of its last word. */
function wordsOf({ typed, list }: SuggestPlan, { words }: SearchResult): readonly SuggestedWord[] {
  const { text } = list.search;
  const last = text && splitWords(typed, languageOfQuery(text)).at(-1);
  if (last === undefined) return [];
  const before = typed.slice(0, last.start).trimStart();
  return (words?.[0]?.words ?? []).map(({ word, rows }) => ({ text: before + word, count: rows }));
}

/** Returns the titles of the best entries. Entries without a title are omitted. */
function titlesOf(
  { title, list }: SuggestPlan,
  { hits }: SearchResult,
  highlights: Meta['highlights'],
): readonly object[] {
  if (title === undefined) return [];
  return hits.sources.flatMap((source) => {
    const row = entryOfSource(source);
    const { documentId, locale } = row;
    if (typeof row[title] !== 'string') return [];
    const isOneOfMany = list.words?.manyLocales === true && locale !== undefined;
    const highlighted = highlights?.[isOneOfMany ? `${documentId}:${locale}` : documentId]?.[title];
    return [{ documentId, locale, title: row[title], highlighted }];
  });
}
