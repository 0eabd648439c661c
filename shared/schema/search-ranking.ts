import type { ContentType } from './content-type.ts';
import { usesOf } from './scalar-uses.ts';
import { below, type ReportProblem } from './schema-problem.ts';
import { type RankTier, searchOptionsOf } from './search-options.ts';
import { queryableScalars } from './system-attributes.ts';

/** A rule for the order of entries by an attribute. `before`: the tier before which it counts; undefined: it counts after all tiers. */
type AttributeRule = {
  readonly attribute: string;
  readonly order: 'asc' | 'desc';
  readonly before?: RankTier | undefined;
};

/** A rule for entries that come first. `boost`: a query string with the filter that they fulfil. */
type BoostRule = { readonly boost: string; readonly before?: RankTier | undefined };

export type RankingRule = AttributeRule | BoostRule;

/** Maximum boosts of a type. Elasticsearch's score has room for two more bits. */
const MOST_BOOSTS = 2;

/** Returns the rules that a type has in `pluginOptions.varve.search.ranking`. */
export function rankingRules(type: Pick<ContentType, 'varve'>): readonly RankingRule[] {
  return searchOptionsOf(type)?.ranking ?? [];
}

/** Returns the rules by attributes among `rules`. */
export function attributeRules(rules: readonly RankingRule[]): readonly AttributeRule[] {
  return rules.filter((rule) => 'attribute' in rule);
}

/** Reports rules whose attribute cannot order entries, and rules that do not fit each other. */
export function checkRanking(type: ContentType, report: ReportProblem): void {
  const reportHere = below(report, 'pluginOptions', 'varve', 'search', 'ranking');
  const rules = rankingRules(type);
  const tiers = attributeRules(rules).flatMap(({ before }) => before ?? []);
  for (const [at, rule] of rules.entries()) {
    if ('boost' in rule) {
      if (rules.slice(0, at).filter((each) => 'boost' in each).length >= MOST_BOOSTS)
        reportHere([at], `a content type has at most ${MOST_BOOSTS} boosts`);
      if (attributeRules(rules.slice(0, at)).some(({ before }) => before === rule.before))
        reportHere([at, 'boost'], 'boosts come before attributes that have the same place');
      continue;
    }
    if (!canOrder(type, rule.attribute))
      reportHere(
        [at, 'attribute'],
        `${rule.attribute} is not a public number, date, boolean or short text of the type`,
      );
    if (rule.before !== undefined && rule.before !== tiers[0])
      reportHere([at, 'before'], `attributes have one place before a tier, and another rule has ${tiers[0]}`);
  }
}

function canOrder(type: ContentType, attribute: string): boolean {
  const found = queryableScalars(type).get(attribute);
  return found !== undefined && found.type !== 'json' && !usesOf(found.type).isLong;
}
