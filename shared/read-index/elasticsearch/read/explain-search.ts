import type { BoolQuery } from '../../bool-query.ts';
import type { SearchRequest } from '../../read-index.ts';
import type { Dsl, SortDsl } from '../plan/dsl.ts';
import { fitClauses } from '../plan/long-text.ts';
import { planQuery, type Strategy } from '../plan/plan-query.ts';
import { planSort, sortDsl } from '../plan/plan-sort.ts';
import type { PlannedQuery } from '../plan/planned-query.ts';
import { render } from '../plan/render-query.ts';
import type { Search } from '../wire/write-search.ts';
import type { SearchContext } from './session.ts';

/** Description of a search's execution, as JSON. */
export type Explanation = {
  readonly query: BoolQuery;
  readonly index: string;
  /** Query sent to Elasticsearch. It contains the number of a semi-join instead of the semi-join's keys. */
  readonly dsl: Dsl;
  /** null: the process sorts the rows, because the documents do not contain all sort keys. */
  readonly sort: readonly SortDsl[] | null;
  readonly strategies: readonly Strategy[];
  readonly semiJoins: readonly ExplainedSemiJoin[];
  /** Requests for the answer, its page and its populated rows, each with its searches. */
  readonly requests: readonly (readonly Search[])[];
};

/** A semi-join, which runs before the search. It reads the values of `select` in the documents of `index` that match `query`. */
export type ExplainedSemiJoin = { readonly index: string; readonly query: Dsl; readonly select: string };

/** Plans a search without running it. `requests`: the requests of the search, if it was run. */
export function explainSearch(
  { layouts, names }: Pick<SearchContext, 'layouts' | 'names'>,
  request: SearchRequest,
  requests: readonly (readonly Search[])[] = [],
): Explanation {
  const { type, world, query } = request;
  const strategies: Strategy[] = [];
  const plan = planQuery(layouts, type, query, (strategy) => strategies.push(strategy));
  const semiJoins: ExplainedSemiJoin[] = [];
  const explain = (part: PlannedQuery): Dsl =>
    render(part, ({ type: target, query: inner, select, into }) => {
      const join = { index: names.alias(target, world), query: explain(inner), select };
      const number = semiJoins.push(join);
      return { terms: { [into]: [`the keys that semi-join ${number} finds`] } };
    });
  const dsl = explain(fitClauses(plan));
  const sort = planSort(layouts(type), request.sort);
  return {
    query,
    index: names.alias(type, world),
    dsl,
    sort: sort && sortDsl(sort),
    strategies,
    semiJoins,
    requests: requests.map((searches) => searches.map(({ index, body }) => ({ index, body }))),
  };
}
