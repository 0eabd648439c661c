import { entryOfSource, type SourceEntry } from '../../shared/read-index/entry-of-source.ts';
import type { AnswerScope, Hits, ReadIndex } from '../../shared/read-index/read-index.ts';
import { attributeRules, rankingRules } from '../../shared/schema/search-ranking.ts';
import { allOf } from './combine-queries.ts';
import type { ListPlan } from './plan-query.ts';

/**
 * Explains what the owner's rules do to the hits of a page: the rules that the words fulfil, and for each hit its boosts and the values of the
 * attributes that order it. Undefined if no rule concerns the search.
 */
export async function explainRanking(
  index: ReadIndex,
  { type, search, words }: ListPlan,
  hits: Hits,
  answer: AnswerScope,
): Promise<object | undefined> {
  const rules = words?.rules ?? [];
  const isRanked = search.text?.isRanked === true;
  const ranking = isRanked ? rankingRules(type) : [];
  if (rules.length + ranking.length === 0) return undefined;
  const rows = hits.sources.map((source) => entryOfSource(source));
  const { boosts = [], pinned = [] } = search.text?.placed ?? {};
  const names = ranking.flatMap((rule) => ('boost' in rule ? [rule.boost] : []));
  const boosted = await Promise.all(
    boosts.map(async ({ query }) => {
      const among = {
        kind: 'terms',
        field: 'documentId',
        values: rows.map(({ documentId }) => documentId),
      } as const;
      const found = await index.search({
        type: type.uid,
        world: search.world,
        query: allOf([search.query, among, query]),
        sort: [],
        from: 0,
        size: Number.POSITIVE_INFINITY,
        withTotal: false,
        answer,
      });
      return new Set(found.hits.sources.map((source) => nameOf(entryOfSource(source))));
    }),
  );
  const attributes = attributeRules(ranking).map(({ attribute }) => attribute);
  return {
    rules,
    hits: rows.map((row) => ({
      documentId: row.documentId,
      locale: row.locale,
      pinned: isRanked && pinned.includes(row.documentId),
      boosts: names.filter((_, at) => boosted[at]?.has(nameOf(row)) === true),
      values: Object.fromEntries(attributes.map((name) => [name, row[name] ?? null])),
    })),
  };
}

function nameOf({ documentId, locale }: SourceEntry): string {
  return `${documentId}:${locale}`;
}
