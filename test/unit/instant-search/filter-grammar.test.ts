import { describe, expect, it } from 'vitest';
import { conditionBudget, isNumber } from '../../../services/instant-search/instant-filter.ts';
import {
  parseFacetFilters,
  parseNumericFilters,
} from '../../../services/instant-search/parse-filter-lists.ts';
import { parseFilters } from '../../../services/instant-search/parse-filters.ts';
import { RequestError } from '../../../shared/request-error.ts';

/** Returns a filter's tree without places, to compare it. */
function shapeOf(filter: object): unknown {
  return JSON.parse(
    JSON.stringify(filter, (key, value) => (key === 'at' || key === 'param' ? undefined : value)),
  );
}
const parsed = (text: string) => shapeOf(parseFilters(text, conditionBudget()));
const facets = (value: unknown) => shapeOf(parseFacetFilters(value, conditionBudget()));
const numbers = (value: unknown) => shapeOf(parseNumericFilters(value, conditionBudget()));
const equals = (path: string, value: string) => ({ kind: 'equals', path, value });
const compares = (path: string, operator: string, value: string) => ({
  kind: 'compares',
  path,
  operator,
  value,
});

function refusal(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    if (error instanceof RequestError && error.code === 'invalid-query')
      return `${error.message} | ${error.details['accepted']}`;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('filters', () => {
  it.each<[string, unknown]>([
    ['stars:3', equals('stars', '3')],
    [' city.name : "São Paulo" ', equals('city.name', 'São Paulo')],
    [`'a b':'it\\'s'`, equals('a b', "it's")],
    ['"AND":"OR"', equals('AND', 'OR')],
    ['a:NOTHING', equals('a', 'NOTHING')],
    ['a:b<score=3>', equals('a', 'b')],
    ['a:"b"<score=3>', equals('a', 'b')],
    ['at:2020-01-01T00:00:00Z', equals('at', '2020-01-01T00:00:00Z')],
    ['a >= -1.5e2', compares('a', '>=', '-1.5e2')],
    ['a!=3', compares('a', '!=', '3')],
    ['a:1 TO 5', { kind: 'between', path: 'a', from: '1', to: '5' }],
    ['NOT a:b', { kind: 'not', member: equals('a', 'b') }],
    ['NOT(a:b)', { kind: 'not', member: equals('a', 'b') }],
    ['a:b AND c<1', { kind: 'and', members: [equals('a', 'b'), compares('c', '<', '1')] }],
    [
      '(a:b OR a:c)AND NOT a:d',
      {
        kind: 'and',
        members: [
          { kind: 'or', members: [equals('a', 'b'), equals('a', 'c')] },
          { kind: 'not', member: equals('a', 'd') },
        ],
      },
    ],
  ])('reads %s', (text, tree) => {
    expect(parsed(text)).toEqual(tree);
  });

  it.each<[string, string]>([
    ['published', 'tags do not exist here'],
    ['a:', 'a value'],
    [':b', 'the name of an attribute'],
    ['a:b AND', 'the name of an attribute'],
    ['a:b c:d', 'conditions such as'],
    ['(a:b', 'a closing parenthesis'],
    ['a:b)', 'conditions such as'],
    ['a > b', 'a number'],
    ['a > 1e999', 'a number'],
    ['a:x TO 5', 'a number'],
    ['a:"b', 'a value'],
    ['a:b AND c:d OR e:f', 'parentheses around'],
    [`${'('.repeat(30)}a:b${')'.repeat(30)}`, 'at most 20 levels'],
    [`${'NOT '.repeat(30)}a:b`, 'at most 20 levels'],
    [Array(1_001).fill('a:b').join(' OR '), 'at most 1000 conditions'],
    [`a:"${'x'.repeat(20_000)}"`, 'at most 20000 characters'],
  ])('refuses %.40s', (text, accepted) => {
    expect(refusal(() => parsed(text))).toContain(accepted);
  });

  it('shows the beginning of a long text that it refuses', () => {
    expect(refusal(() => parsed(`a:b c${'d'.repeat(10_000)}`)).length).toBeLessThan(500);
  });

  it('accepts conditions and levels up to its limits', () => {
    expect(parsed(Array(1_000).fill('a:b').join(' OR '))).toHaveProperty('members.length', 1_000);
    expect(parsed(`${'('.repeat(20)}a:b${')'.repeat(20)}`)).toEqual(equals('a', 'b'));
  });
});

describe('facetFilters', () => {
  it('joins the outer list by AND and inner lists by OR', () => {
    expect(facets([['a:b', 'a:c'], 'd:e'])).toEqual({
      kind: 'and',
      members: [{ kind: 'or', members: [equals('a', 'b'), equals('a', 'c')] }, equals('d', 'e')],
    });
    expect(facets('a:b')).toEqual(equals('a', 'b'));
    expect(facets([[]])).toEqual({ kind: 'and', members: [{ kind: 'and', members: [] }] });
  });

  it('negates a value with a minus, and reads an escaped minus literally', () => {
    expect(facets(['a:-b', 'a:\\-b', 'a:b:c'])).toEqual({
      kind: 'and',
      members: [{ kind: 'not', member: equals('a', 'b') }, equals('a', '-b'), equals('a', 'b:c')],
    });
  });

  it.each([[{}], [3], [['a']], [[':b']], [[[['a:b']]]], [[null]]])('refuses %j', (value) => {
    expect(refusal(() => facets(value))).toContain("Invalid parameter 'facetFilters'");
  });
});

describe('numericFilters', () => {
  it('reads comparisons and ranges', () => {
    expect(numbers(['a>=1', ['b=2', 'b:3 TO 4']])).toEqual({
      kind: 'and',
      members: [
        compares('a', '>=', '1'),
        {
          kind: 'or',
          members: [compares('b', '=', '2'), { kind: 'between', path: 'b', from: '3', to: '4' }],
        },
      ],
    });
  });

  // A quadratic parser would need minutes for the last one.
  it.each([
    ['1.', true],
    ['.5', true],
    ['+1e-3', true],
    ['.', false],
    ['1..2', false],
    ['1e', false],
    [`${'1'.repeat(500_000)}x`, false],
  ])('takes %.20s for a number: %s', (text, isIt) => {
    expect(isNumber(text)).toBe(isIt);
  });

  it.each([['a:b'], [['a>b']], [['a>1 AND b>2']], [[7]]])('refuses %j', (value) => {
    expect(refusal(() => numbers(value))).toContain("Invalid parameter 'numericFilters'");
  });
});
