import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isInPart, readPart } from '../support/long-parts.ts';

const FILES = globSync('test/**/*.test.ts');

it('has each file of tests in one of five parts, of about the same size', () => {
  const parts = ['1/5', '2/5', '3/5', '4/5', '5/5'].map(readPart);
  const sizes = parts.map((part) => FILES.filter((file) => isInPart(file, part)).length);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(FILES.length);
  expect(Math.min(...sizes)).toBeGreaterThan(FILES.length / 8);
});

it('has each file in the only part', () => {
  expect(FILES.every((file) => isInPart(`/somewhere/varve/${file}`, readPart('1')))).toBe(true);
});

it.each(['0', '2', '6/5', '0/5', '1/5/5', 'all', '1/100', '-1/5', '1/'])('refuses the part %s', (text) => {
  expect(() => readPart(text)).toThrow(`VARVE_LONG_TESTS is "${text}"`);
});
