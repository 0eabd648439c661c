import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { RETIRED_OPENINGS, RETIRED_WORDS } from './retired-words.ts';

/**
 * Words that docs/glossary.md retires do not come back: in docs, comments, help, messages, test titles and file names. Each word has a
 * number of uses that are left; it may only fall.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The lists themselves. Recorded answers and sample content are not texts of the project either: they are data. */
const NOT_READ = new Set(['docs/glossary.md', 'test/docs/retired-words.ts']);
const FOLDERS = '{services,shared,projections,test,docs,infra,examples,.github}';
const TEXTS = [
  '*.{md,ts,yml}',
  `${FOLDERS}/**/*.{ts,mjs,js,md,yml,yaml,sh}`,
  'infra/{grafana/*.json,caddy/Caddyfile}',
  '{Dockerfile,.ci/run}',
];

const files = globSync(TEXTS, { cwd: ROOT })
  .filter((file) => !file.includes('node_modules') && !NOT_READ.has(file))
  .sort()
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));

describe('words that the glossary retires', () => {
  it('are searched in the whole tree', () => {
    expect(files.length).toBeGreaterThan(1000);
  });

  it.for(RETIRED_WORDS)('$word: say $say', ({ pattern, allowed }) => {
    const found = usesOf(new RegExp(`\\b(?:${acrossLines(pattern)})\\b`, 'gi'));
    expect(found.length, listed(found, allowed)).toBeLessThanOrEqual(allowed);
  });
});

describe('docs/glossary.md', () => {
  const rows = [
    ...readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8').matchAll(
      /^\| (?!term)(.+?) \| (.+) \| ?(.*?) ?\|$/gm,
    ),
  ];

  it('has at most 50 terms', () => {
    expect(rows.length).toBeGreaterThan(40);
    expect(rows.length).toBeLessThanOrEqual(50);
  });

  it('lists only words that the test searches', () => {
    const retired = rows.flatMap(([, , , not = '']) => not.split(', ').filter((word) => word !== ''));
    expect(
      retired.filter(
        (word) => !RETIRED_WORDS.some(({ pattern }) => new RegExp(`\\b(?:${pattern})\\b`, 'i').test(word)),
      ),
    ).toEqual([]);
  });
});

describe('words that no comment begins with', () => {
  it.for(RETIRED_OPENINGS)('$word', ({ word, allowed }) => {
    const code = files.filter(({ file }) => /^(services|shared|projections|test)\/.*\.ts$/.test(file));
    const found = code.flatMap(({ file, text }) =>
      [
        ...text.matchAll(
          new RegExp(`^\\s*(?:/\\*\\*\\s*(?:\\n\\s*\\*\\s*)?|(?<!// .*\\n\\s*)// )${word}\\b.*$`, 'gm'),
        ),
      ].map((match) => `${place(file, text, match.index)} ${match[0].trim()}`),
    );
    expect(found.length, listed(found, allowed)).toBeLessThanOrEqual(allowed);
  });
});

/** A space of the pattern also matches the end of a line, with the beginning of the next line of a comment. */
function acrossLines(pattern: string): string {
  return pattern.replaceAll(' ', '(?: |\\s*\\n\\s*(?:(?:\\*|//|#) )?)');
}

function usesOf(pattern: RegExp): readonly string[] {
  return files.flatMap(({ file, text }) => [
    ...[...basename(file).replaceAll('-', ' ').matchAll(pattern)].map(() => `${file} (its name)`),
    ...[...text.matchAll(pattern)].map(
      (match) => `${place(file, text, match.index)} ${line(text, match.index)}`,
    ),
  ]);
}

function place(file: string, text: string, index: number): string {
  return `${file}:${text.slice(0, index).split('\n').length}`;
}

function line(text: string, index: number): string {
  const end = text.indexOf('\n', index);
  return text.slice(text.lastIndexOf('\n', index) + 1, end < 0 ? undefined : end).trim();
}

function listed(found: readonly string[], allowed: number): string {
  return `${found.length} uses, ${allowed} allowed. Lower the number when you remove one.\n${found.slice(-40).join('\n')}`;
}
