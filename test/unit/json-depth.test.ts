import { expect, it } from 'vitest';
import { isTooDeep, nestsDeeper, parseShallowJson } from '../../shared/json-depth.ts';

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

it('counts the levels of a value of any depth', () => {
  const value: unknown = JSON.parse(`{"a":[1,{"b":${nested(98)}}]}`);
  expect([nestsDeeper(value, 101), nestsDeeper(value, 100), nestsDeeper(1, 0)]).toEqual([false, true, false]);
  expect(nestsDeeper(JSON.parse(nested(200_000)), 1_000)).toBe(true);
});
