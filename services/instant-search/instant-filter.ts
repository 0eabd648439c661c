import { refuseParameter } from './parameter-readers.ts';

/** Operators of numeric conditions. */
export const NUMERIC_OPERATORS = ['<=', '>=', '!=', '<', '>', '='] as const;
export type NumericOperator = (typeof NUMERIC_OPERATORS)[number];

/**
 * `filters`, `facetFilters` and `numericFilters` as one tree, without the schema. It has two truth values: `not` matches each row that its
 * member does not match. `path` names an attribute, behind the relations and components that lead to it.
 */
export type InstantFilter =
  | { readonly kind: 'and' | 'or'; readonly members: readonly InstantFilter[] }
  | { readonly kind: 'not'; readonly member: InstantFilter }
  | InstantCondition;

export type InstantCondition = ConditionSource &
  (
    | { readonly kind: 'equals'; readonly value: string }
    | { readonly kind: 'compares'; readonly operator: NumericOperator; readonly value: string }
    /** Range that includes both bounds. */
    | { readonly kind: 'between'; readonly from: string; readonly to: string }
  );

/** Parameter and text of a condition, for messages. */
type ConditionSource = { readonly path: string; readonly param: FilterParameter; readonly at: string };

export type FilterParameter = 'filters' | 'facetFilters' | 'numericFilters';

export const EVERY_ROW: InstantFilter = { kind: 'and', members: [] };

/** Returns whether a filter has no condition. */
export function isEveryRow(filter: InstantFilter): boolean {
  return filter.kind === 'and' && filter.members.every(isEveryRow);
}

/** Largest number of conditions in all three parameters of a query together. */
const MAX_CONDITIONS = 1_000;
/** Largest number of parentheses and `NOT` around a condition. */
export const MAX_FILTER_DEPTH = 20;
/** Largest number of characters of `filters`. */
export const MAX_FILTER_LENGTH = 20_000;

/** Number of conditions that a query may still have. */
export type ConditionBudget = { left: number };

/** Returns the number of conditions that one request may have. */
export function conditionBudget(): ConditionBudget {
  return { left: MAX_CONDITIONS };
}

/** Counts a condition. Throws RequestError if there are too many. */
export function countCondition(budget: ConditionBudget, param: FilterParameter): void {
  if (--budget.left >= 0) return;
  refuseFilter(param, `more than ${MAX_CONDITIONS} conditions`, `at most ${MAX_CONDITIONS} conditions`);
}

/** Form of a number. Each text matches in only one way: with two, a long row of digits would take quadratic time. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Returns whether a text is a number in Algolia's form. */
export function isNumber(text: string): boolean {
  return NUMBER.test(text) && Number.isFinite(Number(text));
}

/** Throws the RequestError of a filter that is not understood. */
export function refuseFilter(param: FilterParameter, found: unknown, accepted: string): never {
  return refuseParameter({ param, value: found }, accepted);
}
