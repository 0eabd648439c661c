import { expect, it } from 'vitest';
import { defined } from '../../shared/defined.ts';

it('omits members that are undefined, and keeps null, false and zero', () => {
  const members = { a: undefined, b: null, c: false, d: 0, e: '' };
  expect(Object.entries(defined(members))).toEqual([
    ['b', null],
    ['c', false],
    ['d', 0],
    ['e', ''],
  ]);
});
