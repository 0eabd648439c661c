import type { BoolQuery } from '../../bool-query.ts';
import type { SearchRequest } from '../../read-index.ts';
import type { Dsl, SortDsl } from '../plan/dsl.ts';
import { planQuery, type Strategy } from '../plan/plan-query.ts';
import { planSort, sortDsl } from '../plan/plan-sort.ts';
import type { PlannedQuery } from '../plan/planned-query.ts';
import { render } from '../plan/render-query.ts';
import type { Search } from '../wire/write-search.ts';
import type { SearchContext } from './session.ts';

/** Execution of a search, as JSON. */
export type Explanation = {
  readonly query: BoolQuery;
  readonly index: string;
  /** Query sent to Elasticsearch; the keys of a semi-join are shown by its number. */
  readonly dsl: Dsl;
  /** null: sorted in the process, since the documents do not contain all of it. */
  readonly sort: readonly SortDsl[] | null;
  readonly strategies: readonly Strategy[];
  readonly semiJoins: readonly ExplainedSemiJoin[];
  /** Requests for the answer, page and populated rows, each with its searches. */
  readonly requests: readonly (readonly Omit<Search, 'plain'>[])[];
};

/** Carried out before the search: the values of `select` in the documents of `index` that match `query`. */
export type ExplainedSemiJoin = { readonly index: string; readonly query: Dsl; readonly select: string };

/** Plans a search without running it. `requests`: those of the search that was run, if it was. */
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
  const dsl = explain(plan);
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
