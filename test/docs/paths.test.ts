import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILES = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: ROOT })];
const OWN = /`((?:shared|projections|services|test|docs|examples|infra)\/[\w./-]*)`/g;

describe.each(FILES)('%s', (file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');

  it('names files and folders that exist', () => {
    const named = [...text.matchAll(OWN)].map(([, path = '']) => path);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('links to files that exist', () => {
    const linked = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = '']) => path);
    expect(linked.filter((path) => !existsSync(join(ROOT, dirname(file), path)))).toEqual([]);
  });

  it('has at most 40 lines if it records a decision', () => {
    if (file.startsWith('docs/adr/')) expect(text.split('\n').length).toBeLessThanOrEqual(41);
  });
});
