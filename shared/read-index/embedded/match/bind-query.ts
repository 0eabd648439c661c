import { assertNever } from '../../../assert-never.ts';
import { countSteps, PART } from '../../../turns/slice.ts';
import type { BoolQuery } from '../../bool-query.ts';
import type { World } from '../../read-index.ts';
import type { IndexedColumn } from '../columns/indexed-column.ts';
import { fewValues } from '../columns/number-column.ts';
import type { OrderCache } from '../order/order-cache.ts';
import { columnOf, type RowSetIndex, type Step } from '../rows/row-set.ts';
import { type RowSets, stepFrom, zoneStepFrom } from '../rows/row-sets.ts';
import { bindKept, type KeptSets } from './kept-sets.ts';
import { matchArea } from './match-area.ts';
import { matchAll, matchAny } from './match-bool.ts';
import { matchAnyLinked, matchSome } from './match-some.ts';
import type { Bounds } from './match-stretch.ts';
import { matchText } from './match-text.ts';
import { matchRange, matchValues } from './match-values.ts';
import { MATCH_NOTHING, type Matcher, matchEveryRow, matchPresent } from './matcher.ts';

/** Context of queries. It is valid until the next change of the index. */
export type QueryContext = {
  readonly rowSets: RowSets;
  readonly orders: OrderCache;
  readonly kept: KeptSets;
  readonly world: World;
};

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
      return bindRange(context, rowSet, query);
    case 'exists':
      return matchPresent(rowSet, columnOf(rowSet, query.field));
    case 'text':
      return bindKept(context, rowSet, query, () => matchText(rowSet, columnOf(rowSet, query.field), query));
    case 'area':
      return matchArea(rowSet, areaColumns(rowSet, query), query.circle);
    case 'some':
      return bindSome(context, rowSet, () => stepFrom(rowSets, rowSet, world, query.attribute), query);
    case 'some_in_zone':
      return bindSome(context, rowSet, () => zoneStepFrom(rowSets, rowSet, world, query), query);
    case 'bool':
      return bindBool(context, rowSet, query);
    default:
      return assertNever(query);
  }
}

function areaColumns(rowSet: RowSetIndex, { columns }: Area): readonly [IndexedColumn, IndexedColumn] {
  return [columnOf(rowSet, columns.lat), columnOf(rowSet, columns.lng)];
}

/** A column of many numbers has too many different ranges to keep their rows. */
function bindRange(context: QueryContext, rowSet: RowSetIndex, query: Range): Matcher {
  const column = columnOf(rowSet, query.field);
  const { store } = column;
  const bind = () => matchRange(context.orders, rowSet, column, query);
  const isRepeated = store.kind === 'numbers' && fewValues(store.column, rowSet.size) !== undefined;
  return isRepeated ? bindKept(context, rowSet, query, bind) : bind();
}

function bindSome(context: QueryContext, rowSet: RowSetIndex, stepOf: () => Step, some: Some): Matcher {
  return bindKept(context, rowSet, some, () => {
    const step = stepOf();
    if (some.query.kind === 'match_all') return matchAnyLinked(rowSet, step);
    return matchSome(rowSet, step, bindQuery(context, step.target, some.query));
  });
}

type Bool = Extract<BoolQuery, { kind: 'bool' }>;
type Range = Extract<BoolQuery, { kind: 'range' }>;
type Area = Extract<BoolQuery, { kind: 'area' }>;
type Some = Extract<BoolQuery, { kind: 'some' | 'some_in_zone' }>;

function bindBool(context: QueryContext, rowSet: RowSetIndex, query: Bool): Matcher {
  const conditions: Conditions = { filters: [], options: [], excluded: [] };
  flatten(query, conditions);
  const { filters, options, excluded } = conditions;
  const only =
    excluded.length === 0 && filters.length + options.length === 1 ? onlyOf(filters, options) : undefined;
  if (only !== undefined) return bindQuery(context, rowSet, only);
  return bindKept(context, rowSet, query, () => {
    const bind = (part: BoolQuery) => bindQuery(context, rowSet, part);
    const required = [...filters.map(bind), ...options.map((any) => matchAny(any.map(bind), rowSet))];
    const [first] = required;
    if (required.length === 1 && excluded.length === 0 && first !== undefined) return first;
    return matchAll(required, excluded.map(bind), rowSet);
  });
}

/** Returns the only condition; undefined if it is a choice. */
function onlyOf([filter]: readonly BoolQuery[], [choice]: Conditions['options']): BoolQuery | undefined {
  return filter ?? (choice?.length === 1 ? choice[0] : undefined);
}

type Conditions = {
  readonly filters: BoolQuery[];
  /** One of each list has to match. */
  readonly options: (readonly BoolQuery[])[];
  readonly excluded: BoolQuery[];
};

/** Collects the conditions of a bool, with those of the bools among its filters. So the cheapest of all can run first. */
function flatten(query: Bool, into: Conditions): void {
  for (const filter of query.filter ?? []) {
    if (filter.kind === 'bool') flatten(filter, into);
    else addFilter(into.filters, filter);
  }
  if (query.should !== undefined) into.options.push(query.should);
  into.excluded.push(...(query.must_not ?? []));
}

/** Adds a filter. A lower and an upper bound of one field become one range, which has fewer rows than each of them. */
function addFilter(filters: BoolQuery[], filter: BoolQuery): void {
  const at = filters.findIndex((other) => areBounds(other, filter));
  const other = filters[at];
  if (other === undefined) filters.push(filter);
  else filters[at] = { ...other, ...filter } as BoolQuery;
}

/** Returns whether two queries are ranges of one field, one with lower bounds and one with upper bounds. */
function areBounds(one: BoolQuery, other: BoolQuery): boolean {
  if (one.kind !== 'range' || other.kind !== 'range' || one.field !== other.field) return false;
  return (hasUpper(one) && !hasLower(one) && !hasUpper(other)) || (!hasUpper(one) && !hasLower(other));
}

function hasLower({ gt, gte }: Bounds): boolean {
  return gt !== undefined || gte !== undefined;
}

function hasUpper({ lt, lte }: Bounds): boolean {
  return lt !== undefined || lte !== undefined;
}
