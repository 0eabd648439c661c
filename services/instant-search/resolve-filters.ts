import { assertNever } from '../../shared/assert-never.ts';
import { type BoolQuery, MATCH_NONE } from '../../shared/read-index/bool-query.ts';
import { allOf, anyOf, noneOf } from '../query/combine-queries.ts';
import type { OperatorName } from '../query/operators.ts';
import type { ParsedFilter } from '../query/parse-filter.ts';
import { resolveFilter } from '../query/resolve-filter.ts';
import { translateFilter } from '../query/translate-filter.ts';
import type { InstantCondition, InstantFilter } from './instant-filter.ts';
import { attributeNames, type InstantContext, namedAttribute } from './named-attributes.ts';
import { compareNumber, isNumeric } from './numeric-bounds.ts';

type Comparison = { readonly operator: OperatorName; readonly operand: string };

/**
 * Returns the query for the rows that match a filter. A condition on to-many relations is true if some related row
 * matches. Its negation is true if none matches, like with Algolia's lists of values. Adds problems to
 * `context.problems`.
 */
export function resolveInstantFilter(filter: InstantFilter, context: InstantContext): BoolQuery {
  switch (filter.kind) {
    case 'and':
      return allOf(filter.members.map((member) => resolveInstantFilter(member, context)));
    case 'or':
      return anyOf(filter.members.map((member) => resolveInstantFilter(member, context)));
    case 'not':
      return noneOf(resolveInstantFilter(filter.member, context));
    case 'equals':
      return conditionQuery(filter, [{ operator: '$eq', operand: filter.value }], context);
    case 'compares':
      return filter.operator === '!='
        ? noneOf(resolveInstantFilter({ ...filter, operator: '=' }, context))
        : numericQuery(filter, [[filter.operator, filter.value]], context);
    case 'between':
      return numericQuery(
        filter,
        [
          ['>=', filter.from],
          ['<=', filter.to],
        ],
        context,
      );
    default:
      return assertNever(filter);
  }
}

type Bound = readonly [operator: '<' | '<=' | '>' | '>=' | '=', value: string];

function numericQuery(
  condition: InstantCondition,
  bounds: readonly Bound[],
  context: InstantContext,
): BoolQuery {
  const attribute = namedAttribute(condition.path, condition.param, context);
  if (attribute === undefined) return MATCH_NONE;
  if (attribute.kind !== 'scalar' || !isNumeric(attribute.type)) {
    const { path, param, at } = condition;
    context.problems.push({
      phase: 'value',
      message: `Invalid parameter '${param}': ${path} must be a number or a date`,
      param,
      at,
      found: at,
      accepted: `${path}:value, or the name of a number or a date`,
    });
    return MATCH_NONE;
  }
  const { type } = attribute;
  const comparisons = bounds.map(([operator, value]) => compareNumber(type, operator, value));
  const possible = comparisons.filter((each): each is Comparison => each.operator !== 'none');
  return possible.length < comparisons.length ? MATCH_NONE : conditionQuery(condition, possible, context);
}

/** Some row at the end of the path satisfies all comparisons. */
function conditionQuery(
  { path, param, at }: InstantCondition,
  comparisons: readonly Comparison[],
  context: InstantContext,
): BoolQuery {
  const { model, scope, problems } = context;
  if (namedAttribute(path, param, context) === undefined) return MATCH_NONE;
  const body = comparisons.map((comparison): ParsedFilter => ({ kind: 'comparison', at, ...comparison }));
  const [filter] = attributeNames(path).reduceRight<readonly ParsedFilter[]>(
    (inner, name) => [{ kind: 'attribute', name, body: inner, at }],
    body,
  );
  return translateFilter(resolveFilter(filter as ParsedFilter, model, { scope, param, problems }));
}
