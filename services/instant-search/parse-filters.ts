import {
  type ConditionBudget,
  countCondition,
  type InstantFilter,
  MAX_FILTER_DEPTH,
  MAX_FILTER_LENGTH,
  refuseFilter,
} from './instant-filter.ts';
import { parseCondition } from './parse-condition.ts';
import { createScanner, isAt, type Scanner, skipWhitespace, takeKeyword } from './scan-filter.ts';

const EXPECTED =
  'conditions such as attribute:value, attribute >= 3 or attribute:1 TO 5, with AND, OR, NOT and parentheses';
const MIXED = 'parentheses around the conditions with OR: AND and OR are mixed';

/**
 * Parses Algolia's `filters`:
 *
 *     expression = unary {"AND" unary} | unary {"OR" unary}
 *     unary      = "NOT" unary | "(" expression ")" | condition
 *     condition  = name ":" value | name ":" number "TO" number | name operator number
 *
 * Names and values are words or in quotes. Throws RequestError.
 */
export function parseFilters(text: string, budget: ConditionBudget): InstantFilter {
  if (text.length > MAX_FILTER_LENGTH)
    refuseFilter('filters', `${text.length} characters`, `at most ${MAX_FILTER_LENGTH} characters`);
  const scanner = createScanner(text, 'filters');
  const filter = parseExpression(scanner, budget, 0);
  skipWhitespace(scanner);
  if (scanner.at < text.length) refuseFilter('filters', text.slice(scanner.at), EXPECTED);
  return filter;
}

function parseExpression(scanner: Scanner, budget: ConditionBudget, depth: number): InstantFilter {
  const members = [parseUnary(scanner, budget, depth)];
  let kind: 'and' | 'or' | undefined;
  for (let next = takeJoin(scanner); next !== undefined; next = takeJoin(scanner)) {
    if (kind !== undefined && next !== kind) refuseFilter('filters', scanner.text, MIXED);
    kind = next;
    members.push(parseUnary(scanner, budget, depth));
  }
  return kind === undefined ? (members[0] as InstantFilter) : { kind, members };
}

function takeJoin(scanner: Scanner): 'and' | 'or' | undefined {
  if (takeKeyword(scanner, 'AND')) return 'and';
  return takeKeyword(scanner, 'OR') ? 'or' : undefined;
}

function parseUnary(scanner: Scanner, budget: ConditionBudget, depth: number): InstantFilter {
  if (depth > MAX_FILTER_DEPTH)
    refuseFilter('filters', `a depth of ${depth}`, `at most ${MAX_FILTER_DEPTH} levels`);
  if (takeKeyword(scanner, 'NOT')) return { kind: 'not', member: parseUnary(scanner, budget, depth + 1) };
  if (!isAt(scanner, '(')) {
    countCondition(budget, 'filters');
    return parseCondition(scanner);
  }
  scanner.at++;
  const inner = parseExpression(scanner, budget, depth + 1);
  if (!isAt(scanner, ')')) refuseFilter('filters', scanner.text.slice(scanner.at), 'a closing parenthesis');
  scanner.at++;
  return inner;
}
