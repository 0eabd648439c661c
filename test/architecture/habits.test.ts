import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Habits, habitsOf, habitsOfFiles } from '../support/habits.ts';
import { optionalMembersOf, optionalPortMembers } from '../support/optional-members.ts';

/** Members of the types of options that have too many. A number may only fall: lower it with each member that you move into a group. */
const BAGS: Readonly<Record<string, number>> = {
  AppOptions: 36,
  BeginWritingOptions: 14,
  GraphContext: 14,
  HistoryReplayOptions: 20,
  LookContext: 13,
  OperatorContext: 22,
  ServeAppOptions: 17,
  TermOptions: 17,
  WebhooksOptions: 15,
};

/** Number of places that still break a habit. It may only fall: lower it with each one that you fix. */
const LEFT: { readonly [habit in keyof Habits]: number } = {
  spreadLiterals: 0,
  optionalMembers: 0,
  arrowFunctions: 0,
  longParameterLists: 0,
  sharedNames: 0,
  longFunctions: 0,
  longFiles: 0,
  optionBags: Object.keys(BAGS).length,
  undocumented: 0,
};

/** Optional members of ports. Make a new one required, or group what only one adapter has, as in `ReadIndex.local`. */
const OPTIONAL = ['EventStore.chain', 'EventStore.check', 'ReadIndex.local', 'ReadSidePlan.outside'];

const checkout = path.resolve(import.meta.dirname, '../..');
const found = habitsOf(checkout);

describe('habits of the code base', () => {
  it.each(Object.keys(LEFT) as (keyof Habits)[])('no new code breaks it: %s', (habit) => {
    const places = found[habit];
    const advice = `${places.length} places, ${LEFT[habit]} allowed; test/support/habits.ts says what to write.\n`;
    expect(places.length, advice + places.join('\n')).toBeLessThanOrEqual(LEFT[habit]);
  });

  it('no type of options with too many members gets another one', () => {
    const grown = found.optionBags.filter((place) => {
      const [, name = '', members] = /: (\w+) has (\d+) members$/.exec(place) ?? [];
      return Number(members) > (BAGS[name] ?? 0);
    });
    expect(grown).toEqual([]);
  });

  it('no port has another optional member', () => {
    expect(optionalPortMembers(checkout)).toEqual(OPTIONAL);
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
])('accepts members that the helper cannot express: %s', (member) => {
  expect(of(`export const x = { ${member} };`).optionalMembers).toEqual([]);
});

it('finds functions of a module that are constants', () => {
  expect(of('export const f = () => {}; const g = async (x) => x;').arrowFunctions).toEqual([
    'a.ts: f',
    'a.ts: g',
  ]);
  expect(of('const f: F = () => {}; function g() { const h = () => {}; }').arrowFunctions).toEqual([]);
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

/** Replaces `…` in `text` by statements, so that the function around them has this many lines. */
function filled(text: string, lines: number): string {
  return text.replace('…', 'x();\n'.repeat(lines - 1));
}

it.each([
  ['f', '/** A docstring. */\nexport function f() {…}'],
  ['f', 'export const f = () => {…};'],
  ['f', 'export const x = { f() {…} };'],
  ['f', 'export const x = { f: function () {…} };'],
  ['f', 'export class A { f(): string {…} }'],
  ['a function', "#!/usr/bin/env node\nrun('é', () => {…});"],
])('finds functions of more than 40 lines: %s', (name, text) => {
  expect(of(filled(text, 41)).longFunctions).toEqual([`a.ts: ${name} has 41 lines`]);
  expect(of(filled(text, 40)).longFunctions).toEqual([]);
});

it('counts the lines of an inner function only for the inner function', () => {
  const outer = (inner: number, own: number) =>
    of(`export function f() {\n${filled('const g = () => {…};', inner)}\n${filled('…', own)}}`).longFunctions;
  // Three more lines count for `f`: its first, its last, and the one on which `g` begins.
  expect(outer(40, 38)).toEqual([]);
  expect(outer(40, 39)).toEqual(['a.ts: f has 41 lines']);
  expect(outer(41, 38)).toEqual(['a.ts: g has 41 lines']);
});

it('finds files of more than 300 lines', () => {
  expect(of(`${'x();\n'.repeat(301)}`).longFiles).toEqual(['a.ts has 301 lines']);
  expect(of(`${'x();\n'.repeat(300)}`).longFiles).toEqual([]);
});

it('finds options with more than 12 members', () => {
  const members = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => `m${from + n}: 1`).join('; ');
  const bags = (text: string) => of(text, `export type Other = { ${members(0, 9)} };`).optionBags;
  expect(bags(`export type AOptions = { ${members(0, 12)} };`)).toEqual([]);
  expect(bags(`export type AOptions = { ${members(0, 13)} };`)).toEqual(['a.ts: AOptions has 13 members']);
  const joined = (other: string) => bags(`export type AContext = ${other} & { ${members(8, 13)} };`);
  expect(joined('Other')).toEqual(['a.ts: AContext has 13 members']);
  expect(joined("Omit<Other, 'm0'>")).toEqual([]);
  expect(joined("Pick<Other, 'm0' | 'm1'>")).toEqual([]);
  expect(bags(`type AOptions = { ${members(0, 13)} };`)).toEqual([]);
});

describe('exported functions without a docstring', () => {
  it.each(['export function f() {}', 'export async function f() {}', 'export const f = () => 1;'])(
    'are found: %s',
    (text) => {
      expect(of(`import a from 'a';\n${text}`).undocumented).toEqual(['a.ts: f']);
    },
  );
  it.each(['/** Returns. */\nexport function f() {}', 'function f() {}', 'export const f = 1;'])(
    'are not: %s',
    (text) => {
      expect(of(text).undocumented).toEqual([]);
    },
  );
});

it('finds the optional members of a type', () => {
  const text =
    'export type A = { readonly a?: { b?: 1 }; c?(d?: 1): void; e: 1 }; type B = A & { readonly f?: 1 };';
  expect(optionalMembersOf(text, 'A')).toEqual(['A.a', 'A.c']);
  expect(optionalMembersOf(text, 'B')).toEqual(['B.f']);
  expect(() => optionalMembersOf(text, 'C')).toThrow('there is no type C');
});
