import {
  type ConditionBudget,
  countCondition,
  EVERY_ROW,
  type FilterParameter,
  type InstantFilter,
  refuseFilter,
} from './instant-filter.ts';
import { parseCondition } from './parse-condition.ts';
import { createScanner, skipWhitespace } from './scan-filter.ts';

/** `facetFilters`: "attribute:value", "attribute:-value" for its negation, "attribute:\-value" for a value with a minus. */
export function parseFacetFilters(value: unknown, budget: ConditionBudget): InstantFilter {
  return parseList(value, { param: 'facetFilters', budget, parse: parseFacetFilter });
}

/** `numericFilters`: "attribute>=3", "attribute:1 TO 5". */
export function parseNumericFilters(value: unknown, budget: ConditionBudget): InstantFilter {
  return parseList(value, { param: 'numericFilters', budget, parse: parseNumericFilter });
}

type ListRules = {
  readonly param: FilterParameter;
  readonly budget: ConditionBudget;
  readonly parse: (text: string) => InstantFilter;
};

/** A row must match all members of the outer list, and one member of each inner list. */
function parseList(value: unknown, rules: ListRules): InstantFilter {
  if (typeof value === 'string') return value === '' ? EVERY_ROW : parseOne(value, rules);
  if (!Array.isArray(value)) return refuseFilter(rules.param, value, 'a list of conditions');
  const members = value.map((each: unknown): InstantFilter => {
    if (!Array.isArray(each)) return parseOne(each, rules);
    // An empty list asks for nothing, as in Algolia.
    if (each.length === 0) return EVERY_ROW;
    return { kind: 'or', members: each.map((one: unknown) => parseOne(one, rules)) };
  });
  return { kind: 'and', members };
}

function parseOne(value: unknown, { param, budget, parse }: ListRules): InstantFilter {
  if (typeof value !== 'string')
    return refuseFilter(param, value, 'conditions as text, in lists of at most two levels');
  countCondition(budget, param);
  return parse(value);
}

function parseFacetFilter(text: string): InstantFilter {
  const colon = text.indexOf(':');
  if (colon < 1) return refuseFilter('facetFilters', text, 'attribute:value');
  const given = text.slice(colon + 1);
  const isNegated = given.startsWith('-');
  const value = isNegated ? given.slice(1) : given.replace(/^\\-/, '-');
  const path = text.slice(0, colon).trim();
  const condition: InstantFilter = { kind: 'equals', path, value, param: 'facetFilters', at: text };
  return isNegated ? { kind: 'not', member: condition } : condition;
}

function parseNumericFilter(text: string): InstantFilter {
  const scanner = createScanner(text, 'numericFilters');
  const condition = parseCondition(scanner);
  skipWhitespace(scanner);
  if (scanner.at < text.length || condition.kind === 'equals')
    return refuseFilter('numericFilters', text, 'one condition such as attribute>=3 or attribute:1 TO 5');
  return condition;
}
