import { expect, it } from 'vitest';
import { isTooDeep, parseShallowJson } from '../../shared/json-depth.ts';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

it('reads 100 levels, and no more', () => {
  expect(parseShallowJson(nested(100))).toBeInstanceOf(Array);
  expect(() => parseShallowJson(nested(101))).toThrow(/^it nests deeper than 100 levels/);
  expect(() => parseShallowJson(nested(100_000))).toThrow(SyntaxError);
  expect(() => parseShallowJson('{"a":')).toThrow(SyntaxError);
});

it('counts levels, not brackets', () => {
  expect(isTooDeep(`[${Array(300).fill('{"a":[1]}')}]`)).toBe(false);
  expect(isTooDeep(`{"a":"${'['.repeat(300)}\\"${'{'.repeat(300)}"}`)).toBe(false);
});
