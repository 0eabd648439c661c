import { defined } from '../../shared/defined.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { addRules } from '../../shared/schema/add-rules.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { SearchRule } from '../../shared/schema/search-rules.ts';
import type { SearchAdditions } from '../../shared/synonyms/synonym-state.ts';
import { answerList } from '../query/answer-list.ts';
import { planList, type RequestRules } from '../query/plan-query.ts';
import { searchWithSynonyms } from './search-with-synonyms.ts';

/** The index, and what is in force for its searches. */
export type TrialOptions = {
  readonly registry: SchemaRegistry;
  readonly index: ReadIndex;
  readonly defaultLocale: string;
  readonly rules: Pick<RequestRules, 'containsIgnoresCase'>;
  /** Returns the synonyms and rules in force. */
  readonly additions: () => SearchAdditions;
};

/** A search, and the rules with which it is tried. */
export type RuleTrial = {
  readonly type: string;
  readonly rules: readonly SearchRule[];
  readonly search: string;
  readonly locale: string | undefined;
};

/** First hits of a trial, and the explanation of their order. */
export type RulePreview = { readonly data: readonly object[]; readonly meta: object };

/** Searches with rules that are not stored. */
export type PreviewRules = (trial: RuleTrial) => Promise<RulePreview>;

/** Creates previews for callers with full access: the first ten published entries, as a list answers them. */
export function createPreview(options: TrialOptions): PreviewRules {
  return async (trial) => {
    const { data, meta } = await answerTrial(options, trial, {
      'pagination[pageSize]': '10',
      explain: 'true',
    });
    const { pagination, search: words, explain } = meta;
    return { data, meta: { pagination, search: words, ranking: explain.ranking } };
  };
}

/** Answers the search of a trial as a list of published entries does, for callers with full access. */
export async function answerTrial(
  { registry, index, defaultLocale, rules: { containsIgnoresCase }, additions }: TrialOptions,
  { type, rules, search, locale = defaultLocale }: RuleTrial,
  parameters: Readonly<Record<string, string>>,
): Promise<TrialAnswer> {
  const plan = planList({
    registry: addRules(registry, { [type]: rules }),
    type: contentTypeOf(registry, type),
    queryString: new URLSearchParams({ search, locale, ...parameters }).toString(),
    defaultLocale,
    mayExplain: true,
    ...defined({ containsIgnoresCase }),
  });
  const body = await answerList(searchWithSynonyms(index, additions().synonyms), plan);
  return JSON.parse(body.toString()) as TrialAnswer;
}

type TrialAnswer = {
  readonly data: readonly { readonly documentId: string }[];
  readonly meta: {
    readonly pagination: object;
    readonly search?: object;
    readonly explain: { readonly ranking?: object };
  };
};
