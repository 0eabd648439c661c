import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const page = readFileSync('docs/security.md', 'utf8');

/** Promises of the page. Each is a row of a table whose last column names a test: its file and the beginning of its title. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('|') && line.includes('`test/'))
  .map((line) => {
    const [, file = '', title = ''] = /\| `(test\/[^`]+)`: ([^|]+) \|$/.exec(line) ?? [];
    return [line.split('|')[1]?.trim() ?? '', file, title.trim()] as const;
  });

describe('docs/security.md', () => {
  it('names a test for each promise', () => {
    expect(rows.length).toBeGreaterThan(30);
    const promises = page.split('\n## ').flatMap((section) => {
      const lines = section.split('\n').filter((line) => /^\| (?!---)/.test(line));
      return /^\| (promise|limit) /.test(lines[0] ?? '') ? lines.slice(1) : [];
    });
    const without = promises.filter((line) => !line.includes('`test/') && !line.includes("Node's own"));
    expect(without).toEqual([]);
  });

  it.each(rows)('%s', (_promise, file, title) => {
    expect(file, 'the last column is `file`: title').not.toBe('');
    expect(existsSync(file), file).toBe(true);
    expect(title.length).toBeGreaterThan(10);
    const source = readFileSync(file, 'utf8');
    const titles = [
      ...source.matchAll(/\b(?:it|test|describe)\b[^'"`]*?\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1/g),
    ].map(([, , text = '']) => text.replaceAll("\\'", "'"));
    expect(titles.filter((one) => one.startsWith(title))).toHaveLength(1);
  });
});
