import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LONGEST } from '../support/longest-files.ts';

it('names existing files, each once', () => {
  const files = LONGEST.map((name) => new URL(`../${name}.test.ts`, import.meta.url));
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
  expect(new Set(LONGEST).size).toBe(LONGEST.length);
});
