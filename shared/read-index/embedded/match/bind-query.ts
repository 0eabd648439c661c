import { assertNever } from '../../../assert-never.ts';
import { countSteps, PART } from '../../../turns/slice.ts';
import type { BoolQuery } from '../../bool-query.ts';
import type { World } from '../../read-index.ts';
import type { OrderCache } from '../order/order-cache.ts';
import { columnOf, type RowSetIndex, type Step } from '../rows/row-set.ts';
import { type RowSets, stepFrom, zoneStepFrom } from '../rows/row-sets.ts';
import { matchAll, matchAny } from './match-bool.ts';
import { matchAnyLinked, matchSome } from './match-some.ts';
import { matchText } from './match-text.ts';
import { matchRange, matchValues } from './match-values.ts';
import { MATCH_NOTHING, type Matcher, matchEveryRow, matchPresent } from './matcher.ts';

/** Context of queries. It is valid until the next change of the index. */
export type QueryContext = { readonly rowSets: RowSets; readonly orders: OrderCache; readonly world: World };

/** Binds a query to the rows of `rowSet`. Throws on a field or attribute that the schema does not have. */
export function bindQuery(context: QueryContext, rowSet: RowSetIndex, query: BoolQuery): Matcher {
  countSteps(PART);
  const { rowSets, orders, world } = context;
  switch (query.kind) {
    case 'match_all':
      return matchEveryRow(rowSet);
    case 'match_none':
      return MATCH_NOTHING;
    case 'term':
      return matchValues(orders, rowSet, columnOf(rowSet, query.field), [query.value]);
    case 'terms':
      return matchValues(orders, rowSet, columnOf(rowSet, query.field), query.values);
    case 'range':
      return matchRange(orders, rowSet, columnOf(rowSet, query.field), query);
    case 'exists':
      return matchPresent(rowSet, columnOf(rowSet, query.field));
    case 'text':
      return matchText(rowSet, columnOf(rowSet, query.field), query);
    case 'some':
      return bindSome(context, rowSet, stepFrom(rowSets, rowSet, world, query.attribute), query);
    case 'some_in_zone':
      return bindSome(context, rowSet, zoneStepFrom(rowSets, rowSet, world, query), query);
    case 'bool':
      return bindBool(context, rowSet, query);
    default:
      return assertNever(query);
  }
}

function bindSome(
  context: QueryContext,
  rowSet: RowSetIndex,
  step: Step,
  { query }: { readonly query: BoolQuery },
): Matcher {
  if (query.kind === 'match_all') return matchAnyLinked(rowSet, step);
  return matchSome(rowSet, step, bindQuery(context, step.target, query));
}

type Bool = Extract<BoolQuery, { kind: 'bool' }>;

function bindBool(context: QueryContext, rowSet: RowSetIndex, query: Bool): Matcher {
  const required: Matcher[] = [];
  const excluded: Matcher[] = [];
  flatten(context, rowSet, query, { required, excluded });
  const [only] = required;
  if (only !== undefined && required.length === 1 && excluded.length === 0) return only;
  return matchAll(required, excluded, rowSet);
}

type Conditions = { readonly required: Matcher[]; readonly excluded: Matcher[] };

/** Collects the conditions of a bool in one list, with those of the bools among its filters. So the cheapest of all can run first. */
function flatten(context: QueryContext, rowSet: RowSetIndex, query: Bool, into: Conditions): void {
  for (const filter of query.filter ?? []) {
    if (filter.kind === 'bool') flatten(context, rowSet, filter, into);
    else into.required.push(bindQuery(context, rowSet, filter));
  }
  if (query.should !== undefined) {
    const options = query.should.map((option) => bindQuery(context, rowSet, option));
    const [only] = options;
    into.required.push(only !== undefined && options.length === 1 ? only : matchAny(options, rowSet));
  }
  for (const condition of query.must_not ?? []) into.excluded.push(bindQuery(context, rowSet, condition));
}
