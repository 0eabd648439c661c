import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const text = readFileSync(join(ROOT, 'docs/SEMANTICS.md'), 'utf8');
const sections = new Set([...text.matchAll(/^##+ (\d+[a-z]?)\. /gm)].map(([, number]) => number));

/** Matches `SEMANTICS section 2`, `SEMANTICS sections 0a and 4` and `SEMANTICS.md, section 1`. */
const CITATION = /SEMANTICS(?:\.md)?,? sections? (\d+[a-z]?)(?: and (\d+[a-z]?))?/g;
const FILES = globSync('{services,projections,shared,test,docs}/**/*.{ts,md}', { cwd: ROOT });

it('docs/SEMANTICS.md has every section that code and documents cite', () => {
  const cited = FILES.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(CITATION)].flatMap(([, ...numbers]) =>
      numbers.flatMap((number) => (number === undefined ? [] : [{ file, number }])),
    ),
  );
  expect(cited.length).toBeGreaterThan(50);
  expect(cited.filter(({ number }) => !sections.has(number))).toEqual([]);
});
