import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Habits, habitsOf, habitsOfFiles } from '../support/habits.ts';

/** How many places still break a habit. A number may only fall: lower it with each one that you fix. */
const LEFT: { readonly [habit in keyof Habits]: number } = {
  spreadLiterals: 0,
  optionalMembers: 0,
  longParameterLists: 0,
  sharedNames: 0,
};

const found = habitsOf(path.resolve(import.meta.dirname, '../..'));

describe('habits of the code base', () => {
  it.each(Object.keys(LEFT) as (keyof Habits)[])('no new code breaks it: %s', (habit) => {
    const places = found[habit];
    const advice = `${places.length} places, ${LEFT[habit]} allowed; test/support/habits.ts says what to write.\n`;
    expect(places.length, advice + places.join('\n')).toBeLessThanOrEqual(LEFT[habit]);
  });
});

function of(text: string, other = ''): Habits {
  return habitsOfFiles(
    new Map([
      ['a.ts', text],
      ['b.ts', other],
    ]),
  );
}

it('finds spreads of a literal', () => {
  expect(of('export const x = { ...{ a: 1 }, b: 2 };').spreadLiterals).toEqual(['a.ts']);
  expect(of('const a = { c: 1 }; export const x = { ...a, b: 2 };').spreadLiterals).toEqual([]);
});

it.each([
  '...(a === undefined ? {} : { a })',
  '...(a.b === undefined ? {} : { c: a.b })',
  '...(a !== undefined ? { b: a } : {})',
])('finds optional members without the helper: %s', (member) => {
  expect(of(`export const x = { ${member} };`).optionalMembers).toEqual(['a.ts']);
});

it.each([
  '...(a === undefined ? {} : { b: f(a) })',
  '...(a ? {} : { b })',
  '...(a === undefined ? b : { a })',
])('takes what the helper cannot say: %s', (member) => {
  expect(of(`export const x = { ${member} };`).optionalMembers).toEqual([]);
});

it('finds functions with more than four parameters', () => {
  const { longParameterLists } = of(
    'export function f(a, b, c, d, e) {} export const g = (a, b, c, d) => {};',
  );
  expect(longParameterLists).toEqual(['a.ts: f has 5']);
});

it('finds names that two files export', () => {
  expect(of('export type A = 1; export const b = 1;', 'export function A() {}').sharedNames).toEqual([
    'A: a.ts, b.ts',
  ]);
});
