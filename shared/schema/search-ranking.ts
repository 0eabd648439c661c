import type { ContentType } from './content-type.ts';
import { usesOf } from './scalar-uses.ts';
import { below, type ReportProblem } from './schema-problem.ts';
import { SEARCH_OF_TYPE } from './search-options.ts';
import { queryableScalars } from './system-attributes.ts';

/** A rule for the order of entries that a search finds with the same relevance. */
type RankingRule = { readonly attribute: string; readonly order: 'asc' | 'desc' };

/** Returns the rules that a type has in `pluginOptions.varve.search.ranking`. */
export function rankingRules({ varve }: Pick<ContentType, 'varve'>): readonly RankingRule[] {
  return SEARCH_OF_TYPE.safeParse(varve ?? {}).data?.search?.ranking ?? [];
}

/** Reports rules whose attribute cannot order entries. */
export function checkRanking(type: ContentType, report: ReportProblem): void {
  const reportHere = below(report, 'pluginOptions', 'varve', 'search', 'ranking');
  for (const [at, { attribute }] of rankingRules(type).entries()) {
    const found = queryableScalars(type).get(attribute);
    if (found === undefined || found.type === 'json' || usesOf(found.type).isLong)
      reportHere(
        [at, 'attribute'],
        `${attribute} is not a public number, date, boolean or short text of the type`,
      );
  }
}
