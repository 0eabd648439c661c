import { type BoolQuery, MATCH_ALL } from '../../shared/read-index/bool-query.ts';
import type { SortKey } from '../../shared/read-index/read-index.ts';
import type { PlacedRules, RankKey } from '../../shared/read-index/text-search.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { type SchemaProblem, schemaProblem } from '../../shared/schema/schema-problem.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { attributeRules, type RankingRule, rankingRules } from '../../shared/schema/search-ranking.ts';
import { queryableScalars } from '../../shared/schema/system-attributes.ts';
import { planFilter } from './plan-filter.ts';
import type { Problems } from './problems.ts';
import { type QueryScope, queryModelOf } from './query-model.ts';
import { parseQueryString, type QueryValue } from './query-string.ts';

/** The owner's order of a ranked search: rules with a place before a tier, and the order of rows with the same relevance. */
type OwnerRanking = { readonly placed: PlacedRules | undefined; readonly ties: readonly SortKey[] };

const BY_CREATION: SortKey = { path: [], field: 'createdAt', direction: 'asc' };

/**
 * Returns the order that a content type names in `ranking`, and after it the order of creation. Omits boosts whose filter passes through a
 * type that the caller may not `find`: the order must not reveal its content. `pinned`: ids of documents that come first.
 */
export function ownerRanking(type: ContentType, scope: QueryScope, pinned: readonly string[]): OwnerRanking {
  const rules = rankingRules(type);
  const attributes = attributeRules(rules);
  const [place] = attributes.flatMap(({ before }) => before ?? []);
  const boosts = rules.flatMap((rule) => {
    if (!('boost' in rule)) return [];
    const { query, problems } = filterOf(rule.boost, type, scope);
    return problems.length > 0 ? [] : [{ query, before: rule.before ?? ('end' as const) }];
  });
  const keys = attributes.filter(({ before }) => before !== undefined).map(sortKey);
  return {
    placed:
      pinned.length + boosts.length + keys.length === 0
        ? undefined
        : { pinned, boosts, keys, keysBefore: place ?? 'end' },
    ties: [
      ...attributes.filter(({ before }) => before === undefined).map(sortKey),
      // No index has private times.
      ...(queryableScalars(type).has('createdAt') ? [BY_CREATION] : []),
    ],
  };
}

function sortKey({ attribute, order }: Extract<RankingRule, { readonly attribute: string }>): RankKey {
  return { path: [], field: attribute, direction: order === 'asc' ? 'asc' : 'desc-null-last' };
}

/** Returns the problems of the boosts of all types, in the words of a refused request. */
export function checkBoosts(registry: SchemaRegistry): readonly SchemaProblem[] {
  return [...registry.contentTypes.values()].flatMap((type) =>
    rankingRules(type).flatMap((rule, at) => {
      if (!('boost' in rule)) return [];
      const { problems } = filterOf(rule.boost, type, { registry });
      const path = ['pluginOptions', 'varve', 'search', 'ranking', at, 'boost'];
      return problems.map(({ message }) => schemaProblem(type.uid, path, message));
    }),
  );
}

/** Returns the condition of a filter in the form of a query string, and what is wrong with it. */
export function filterOf(
  text: string,
  type: Pick<ContentType, 'uid'>,
  scope: QueryScope,
): { readonly query: BoolQuery; readonly problems: Problems } {
  const problems: Problems = [];
  const filters = readFilters(text, problems);
  const model = queryModelOf(scope.registry, type.uid);
  const query =
    filters === undefined
      ? MATCH_ALL
      : planFilter(filters, 'filters', model, { scope, param: 'filters', problems });
  return { query, problems };
}

/** Returns the filter of a query string that has nothing else. */
function readFilters(text: string, problems: Problems): QueryValue | undefined {
  const { filters, ...others } = parseQueryString(text);
  if (filters !== undefined && Object.keys(others).length === 0) return filters;
  problems.push({
    phase: 'parameter',
    message: `must be a filter such as filters[inStock][$eq]=true, got ${text}`,
    param: 'filters',
    found: text,
    accepted: 'filters[…]',
  });
  return undefined;
}
