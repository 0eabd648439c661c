import { assertNever } from '../../shared/assert-never.ts';
import { type BoolQuery, MATCH_ALL, MATCH_NONE } from '../../shared/read-index/bool-query.ts';
import { allOf, anyOf, noneOf } from './combine-queries.ts';
import { geoQuery } from './geo-operators.ts';
import { operatorOf } from './operators.ts';
import type { ResolvedFilter } from './resolved-filter.ts';

/** `query`: the rows for which the filter is TRUE. `ofNullRow`: its truth for a row that is NULL in every column. */
type Translated = { readonly query: BoolQuery; readonly ofNullRow: boolean };

/**
 * Translates a resolved filter to a bool query, which has two-valued logic. `not` is pushed down to the comparisons: De Morgan's laws are
 * valid in three-valued logic. So no `some` is negated, and each can be evaluated in place. Moving the quantifiers inwards does not change
 * the result, because no variable is used outside its mention and no range is empty (SEMANTICS section 1).
 */
export function translateFilter(filter: ResolvedFilter): BoolQuery {
  return translate(filter, false).query;
}

function translate(filter: ResolvedFilter, negated: boolean): Translated {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return translateGroup(filter, negated);
    case 'not':
      return translate(filter.member, !negated);
    case 'some':
      return translateSome(filter, negated);
    case 'comparison':
      return translateComparison(filter, negated);
    case 'geo':
      return { query: geoQuery(filter.columns, filter.area, negated), ofNullRow: false };
    default:
      return assertNever(filter);
  }
}

function translateGroup(filter: ResolvedFilter & { kind: 'and' | 'or' }, negated: boolean): Translated {
  const members = filter.members.map((member) => translate(member, negated));
  const queries = members.map((member) => member.query);
  const all = (filter.kind === 'and') !== negated;
  return all
    ? { query: allOf(queries), ofNullRow: members.every((member) => member.ofNullRow) }
    : { query: anyOf(queries), ofNullRow: members.some((member) => member.ofNullRow) };
}

/** The variable ranges over the linked rows, or over one all-NULL row when there are none. */
function translateSome(filter: ResolvedFilter & { kind: 'some' }, negated: boolean): Translated {
  const { query, ofNullRow } = translate(filter.body, negated);
  if (!ofNullRow) return { query: some(filter, query), ofNullRow };
  if (query.kind === 'match_all') return { query: MATCH_ALL, ofNullRow };
  return { query: anyOf([some(filter, query), noneOf(some(filter, MATCH_ALL))]), ofNullRow };
}

function some(filter: ResolvedFilter & { kind: 'some' }, query: BoolQuery): BoolQuery {
  if (query.kind === 'match_none') return MATCH_NONE;
  const { attribute, zoneComponent } = filter;
  return zoneComponent === undefined
    ? { kind: 'some', attribute, query }
    : { kind: 'some_in_zone', attribute, component: zoneComponent, query };
}

function translateComparison(filter: ResolvedFilter & { kind: 'comparison' }, negated: boolean): Translated {
  const { field, operands } = filter;
  const operator = operatorOf(filter.operator);
  const truth = operator.ofNull(operands);
  return negated
    ? { query: operator.isFalse(field, operands), ofNullRow: truth === false }
    : { query: operator.isTrue(field, operands), ofNullRow: truth === true };
}
