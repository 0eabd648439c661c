import { valueAt } from '../../shared/map-values.ts';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import type { TextSearch } from '../../shared/read-index/text-search.ts';
import { createRecentValues } from '../../shared/recent-values.ts';
import { remembered } from '../../shared/remembered.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import type { SearchRule } from '../../shared/schema/search-rules.ts';
import { foldWord } from '../../shared/search/fold-word.ts';
import { hasWords, splitWords, type TextWord } from '../../shared/search/split-words.ts';
import { noneOf } from './combine-queries.ts';
import { filterOf } from './owner-ranking.ts';
import type { QueryScope } from './query-model.ts';
import { languageOfQuery } from './text-search.ts';

type Text = Pick<TextSearch, 'query' | 'locales'>;

/** The effect of a content type's rules on a search. */
export type AppliedRules = {
  /** The rules that the words of the search fulfil. */
  readonly rules: readonly SearchRule[];
  /** Ids of the documents that come first, in this order. */
  readonly pinned: readonly string[];
  /** Conditions that the entries found have to fulfil. */
  readonly conditions: readonly BoolQuery[];
  /** Text to search, without the words that a filter replaces; undefined if none is left. */
  readonly query: string | undefined;
};

/**
 * Applies the rules of a content type to a search. The pins of several rules add up, and so do the hidden entries. The first filter counts.
 * Ignores a filter that passes through a type that the caller may not `find`.
 */
export function applyRules(
  type: Pick<ContentType, 'uid'>,
  text: Text,
  scope: QueryScope,
): AppliedRules | undefined {
  // The content types of the scope have the rules in force.
  const { rules = [] } = contentTypeOf(scope.registry, type.uid);
  const typed = wordsIn(text.query);
  const matched = rules.flatMap((rule) => {
    const words = matchedWords(rule, text, typed);
    return words === undefined ? [] : [{ rule, words }];
  });
  if (matched.length === 0) return undefined;
  const hidden = matched.flatMap(({ rule }) => rule.hide ?? []);
  const hiding: readonly BoolQuery[] =
    hidden.length === 0 ? [] : [noneOf({ kind: 'terms', field: 'documentId', values: [...new Set(hidden)] })];
  const replacement = replacementBy(matched, type, scope);
  const left = replacement ? without(text.query, replacement.words) : text.query;
  return {
    rules: matched.map(({ rule }) => rule),
    pinned: [...new Set(matched.flatMap(({ rule }) => rule.pin ?? []))].slice(0, MOST_PINNED),
    conditions: [...hiding, ...(replacement ? [replacement.query] : [])],
    query: hasWords(left) ? left : undefined,
  };
}

type MatchedRule = { readonly rule: SearchRule; readonly words: readonly TextWord[] };

/** Returns the first filter of rules, and the words that it replaces; undefined if there is none for the caller. */
function replacementBy(matched: readonly MatchedRule[], type: Pick<ContentType, 'uid'>, scope: QueryScope) {
  const first = matched.find(({ rule }) => rule.filter !== undefined);
  if (first?.rule.filter === undefined) return undefined;
  const { query, problems } = filterOf(first.rule.filter, type, scope);
  return problems.length > 0 ? undefined : { query, words: first.words };
}

/** Maximum pinned entries of a search, from all of its rules. */
const MOST_PINNED = 20;

type Words = { readonly words: readonly TextWord[]; readonly folded: readonly string[] };

/** Languages whose words are kept for a rule. Callers may name any. */
const KEPT_LANGUAGES = 20;

/** Returns a function that splits a text once in each language. */
function wordsIn(text: string): (language: string) => Words {
  const known = createRecentValues<string, Words>(KEPT_LANGUAGES);
  return (language) =>
    valueAt(known, language, () => {
      const words = splitWords(text, language);
      return { words, folded: words.map(({ word }) => foldWord(word)) };
    });
}

/** Words of the rules in each language. A type may have a thousand rules, and each search compares them all. */
const wordsOfRule = remembered(({ when }: SearchRule) => wordsIn(when));

/** Returns the words of a query that fulfil a rule; undefined if none do. `typed`: the query's words. */
function matchedWords(
  rule: SearchRule,
  text: Text,
  typed: ReturnType<typeof wordsIn>,
): readonly TextWord[] | undefined {
  const { match, locale } = rule;
  const { locales } = text;
  if (locale !== undefined && locales !== 'all' && !locales.includes(locale)) return undefined;
  const language = locale ?? languageOfQuery(text);
  const { folded: wanted } = wordsOfRule(rule)(language);
  const { words, folded } = typed(language);
  const more = words.length - wanted.length;
  if (wanted.length === 0 || (match !== 'contains' && more !== 0)) return undefined;
  for (let start = 0; start <= more; start++)
    if (wanted.every((word, at) => folded[start + at] === word))
      return words.slice(start, start + wanted.length);
  return undefined;
}

/** Returns a query without some successive words of it. */
function without(query: string, words: readonly TextWord[]): string {
  return query.slice(0, words[0]?.start) + query.slice(words.at(-1)?.end ?? query.length).trimStart();
}

/** Returns what is wrong with the filters of rules, each at its path, in the words of a refused request. */
export function checkRules(
  rules: readonly SearchRule[],
  type: Pick<ContentType, 'uid'>,
  scope: QueryScope,
): readonly { readonly path: string; readonly message: string }[] {
  return rules.flatMap(({ filter }, at) => {
    if (filter === undefined) return [];
    return filterOf(filter, type, scope).problems.map(({ message }) => ({ path: `${at}.filter`, message }));
  });
}
