import { mostFrequentWord, reportOf, type TextSearchReport } from '../../text-search.ts';
import type { Dsl } from '../plan/dsl.ts';
import { byRelevance, planSort, sortDsl } from '../plan/plan-sort.ts';
import { checkDepth } from '../plan/render-query.ts';
import { countWords } from './count-words.ts';
import type { LocaleWords, WordScope, WordTerm } from './find-words.ts';
import { matchQuery, rankedQuery } from './rank-query.ts';

/** Documents within which words are searched, and the number of hits that are asked for. */
type Asked = { readonly within: Dsl; readonly size: number };

/** Documents with the best rank. */
type BestDocuments = { readonly query: Dsl; readonly min_score?: number };

/**
 * Returns the report on a search. A word is corrected if no document has it. The correction is a word of the best documents. A search
 * without hits corrects no word.
 */
export async function findReport(
  scope: WordScope,
  locales: readonly LocaleWords[],
  asked: Asked,
): Promise<TextSearchReport> {
  const isAny = locales.some(({ terms }) => terms.some(isCorrected));
  const best = isAny && asked.size > 0 ? await bestDocuments(scope, locales, asked.within) : undefined;
  const readings = locales.map(async ({ locale, terms }) => ({
    locale,
    terms: await Promise.all(
      terms.map(async (each) => {
        const correction =
          best !== undefined && isCorrected(each) ? await correctionOf(scope, locale, each, best) : undefined;
        return { term: each.term, correction };
      }),
    ),
  }));
  return reportOf(await Promise.all(readings));
}

/** Returns whether documents have only words with typos for a term. */
function isCorrected({ words }: WordTerm): boolean {
  return words.length > 0 && words.every(({ match }) => match.typos >= 1);
}

/** Returns the documents with the best rank. All documents of a question count, because the engines score these differently. */
async function bestDocuments(
  scope: WordScope,
  locales: readonly LocaleWords[],
  within: Dsl,
): Promise<BestDocuments | undefined> {
  const matched = checkDepth({ bool: { filter: [within, matchQuery(scope, locales)] } });
  if (locales.some(({ mode }) => mode === 'any')) return { query: matched };
  const query = checkDepth({ bool: { filter: [within], must: [rankedQuery(scope, locales)] } });
  // Elasticsearch lists the score among the sort values only if another key follows it.
  const sort = sortDsl(byRelevance(planSort(scope.session.layouts(scope.type), []) ?? []));
  const { hits } = await scope.session.search(scope.type, { size: 1, query, sort });
  const score = hits.hits[0]?.sort?.[0];
  return typeof score === 'number' ? { query, min_score: score } : undefined;
}

async function correctionOf(
  scope: WordScope,
  locale: string,
  { words }: WordTerm,
  best: BestDocuments,
): Promise<string | undefined> {
  const counts = await countWords(
    scope,
    locale,
    words.map((word) => [word]),
    best,
  );
  return mostFrequentWord(words.map(({ key, match }, at) => ({ key, match, rows: counts[at] ?? 0 })));
}
