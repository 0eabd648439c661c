import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TESTS = globSync('test/{browser,http}/*.test.ts', { cwd: ROOT });

/** Returns the sentences under "What people do here": a person, and what the person does. */
function tasks(): readonly string[] {
  const page = readFileSync(join(ROOT, 'docs/console.md'), 'utf8');
  const [, section = ''] = page.split('## What people do here\n');
  const groups = section.split('\n### ')[0]?.matchAll(/^(An? [a-z ]+) …\n\n((?:- .+\n)+)/gm) ?? [];
  return [...groups].flatMap(([, who = '', lines = '']) =>
    [...lines.matchAll(/^- (.+)$/gm)].map(([, what]) => `${who.replace('A', 'a')} ${what}`),
  );
}

it('docs/console.md lists exactly the tasks that tests carry out in a browser', () => {
  const titles = TESTS.flatMap((file) =>
    [
      ...readFileSync(join(ROOT, file), 'utf8').matchAll(
        /\b(?:it|test)\(\s*'(an? (?:site developer|search developer|operator|editor) .+?)',/g,
      ),
    ].map(([, title = '']) => title),
  );
  expect(tasks().length).toBeGreaterThanOrEqual(40);
  expect(titles.toSorted()).toEqual(tasks().toSorted());
});
