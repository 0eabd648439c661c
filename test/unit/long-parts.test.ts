import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isInPart, readPart } from '../support/long-parts.ts';

const FILES = globSync('test/**/*.test.ts');

it('has each file of tests in one of eight parts, of about the same size', () => {
  const parts = Array.from({ length: 8 }, (_, n) => readPart(`${n + 1}/8`));
  const sizes = parts.map((part) => FILES.filter((file) => isInPart(file, part)).length);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(FILES.length);
  expect(Math.min(...sizes)).toBeGreaterThan(FILES.length / 12);
});

it('has each file in the only part', () => {
  expect(FILES.every((file) => isInPart(`/somewhere/varve/${file}`, readPart('1')))).toBe(true);
});

it.each(['0', '2', '9/8', '0/8', '1/8/8', 'all', '1/100', '-1/8', '1/'])('refuses the part %s', (text) => {
  expect(() => readPart(text)).toThrow(`VARVE_LONG_TESTS is "${text}"`);
});
