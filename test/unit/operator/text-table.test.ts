import { expect, it } from 'vitest';
import { timeLeft } from '../../../services/cli/output/import-progress.ts';
import { cutLine, textTable, wrapLines } from '../../../services/cli/output/text-table.ts';

it('cuts the widest columns of a table to the terminal, and no others', () => {
  const rows = [
    ['ITEM', 'REASON'],
    ['draft/12', 'the value of the attribute is longer than the index accepts'],
  ];
  const lines = textTable(rows, 30).split('\n');
  expect(lines[1]).toBe('draft/12  the value of the at…');
  expect(Math.max(...lines.map((line) => line.length))).toBe(30);
  expect(textTable(rows, undefined)).toContain('longer than the index accepts');
});

it('cuts and breaks lines only for a terminal', () => {
  expect(cutLine('abcdef', 4)).toBe('abc…');
  expect(cutLine('abcdef', undefined)).toBe('abcdef');
  expect(wrapLines('one two three', 8)).toEqual(['one two', 'three']);
});

it('says that the time left is unknown instead of an infinite number', () => {
  expect(timeLeft(Number.POSITIVE_INFINITY)).toBe('time left unknown');
  expect(timeLeft(12)).toBe('12 s left');
});
