import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../support/naive-random.ts';
import { CONFORMANCE_SCHEMA } from '../support/server.ts';
import { mutateBytes, mutateJson, mutateText } from './mutate.ts';

/** Files of `varve import` with documents: JSON lines, arrays and CSV. */

export type LinesInput = {
  readonly kind: 'lines';
  readonly members: readonly [readonly [name: string, bytes: Buffer]];
  readonly isFolder: false;
  /** Content type of the rows of a CSV file. */
  readonly type?: string;
  /** Documents in the file; undefined if its text was damaged. */
  readonly rows: number | undefined;
};

type Line = Record<string, unknown>;

/** Lines without passwords, whose hashes take most of the time. */
const FIXTURES: readonly Line[] = globSync(join(CONFORMANCE_SCHEMA, '../fixtures/*.jsonl'))
  .sort()
  .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
  .filter((line) => line !== '' && !/"(password|secretPin)"/.test(line))
  .map((line) => JSON.parse(line));

const MEMBERS = [
  'type',
  'key',
  'documentId',
  'state',
  'data',
  'draft',
  'locales',
  'id',
  'createdAt',
  'updatedAt',
  'publishedAt',
  '__proto__',
  'constructor',
];
const VALUES: readonly unknown[] = [
  { toString: 1, valueOf: null },
  [{ toString: null }],
  { $ref: { toString: 1 } },
  { connect: [{ toString: 1 }] },
  { set: { length: 3 } },
  null,
  '',
  'x',
  7,
  -1,
  1.5,
  true,
  [],
  {},
  'tag',
  'api::tag.tag',
  'constructor',
  '__proto__',
  'draft',
  'live',
  'modified',
  'a'.repeat(24),
  'k'.repeat(3_000),
  '2026-01-01T00:00:00Z',
  { de: { data: {} } },
  { __proto__: null, '': { data: {} } },
  { $ref: 'tag:x' },
  { $ref: 7 },
  '\ud800',
  '\u0000',
];

export function makeLinesInput(random: Random): LinesInput {
  return random.chance(0.4) ? makeCsv(random) : makeJson(random);
}

function makeJson(random: Random): LinesInput {
  const lines = Array.from({ length: random.between(1, 5) }, () => makeLine(random));
  const isDamaged = random.chance(0.25);
  const isArray = random.chance(0.3);
  const end = random.pick(['\n', '\n', '\r\n', '\n\n']);
  const texts = lines.map((line) => JSON.stringify(line));
  const text =
    (random.chance(0.1) ? '\ufeff' : '') + (isArray ? `[${texts.join(`,${end}`)}]` : texts.join(end));
  return {
    kind: 'lines',
    ...fileOf(isArray ? 'a.json' : 'a.jsonl', text, isDamaged, random),
    // A file whose first line is an array is one array.
    rows: isDamaged || (!isArray && Array.isArray(lines[0])) ? undefined : lines.length,
  };
}

function fileOf(name: string, text: string, isDamaged: boolean, random: Random) {
  const bytes = Buffer.from(text.toWellFormed());
  if (!isDamaged) return memberOf(name, bytes);
  const damaged = random.chance(0.6)
    ? Buffer.from(mutateText(text, random))
    : Buffer.from(mutateBytes(bytes, random));
  const isCut = random.chance(0.1);
  return memberOf(name, isCut ? damaged.subarray(0, random.between(0, damaged.length)) : damaged);
}

function memberOf(name: string, bytes: Buffer): Pick<LinesInput, 'members' | 'isFolder'> {
  return { members: [[name, bytes]], isFolder: false };
}

function makeLine(random: Random): unknown {
  const line = random.pick(FIXTURES);
  switch (random.between(0, 6)) {
    case 0:
      return line;
    case 1:
      return { ...line, [random.pick(MEMBERS)]: random.pick(VALUES) };
    case 2:
      return mutateJson(line, random);
    case 3:
      return random.chance(0.5)
        ? { ...line, data: mutateJson(line['data'], random) }
        : { ...line, data: changedMember(line['data'], random) };
    case 4:
      return {
        ...line,
        data: {
          ...(line['data'] as Line),
          [random.pick(Object.keys(line['data'] ?? { name: 1 }))]: deepValue(random),
        },
      };
    case 5: {
      const { key: _key, state: _state, ...rest } = line;
      return rest;
    }
    default:
      return {
        ...line,
        locales: {
          en: { data: line['data'] ?? {} },
          [random.pick(['de', 'x', '', '__proto__'])]: random.pick<unknown>([
            { data: {} },
            null,
            7,
            { data: { title: 'x' }, state: 'draft' },
          ]),
        },
      };
  }
}

function changedMember(data: unknown, random: Random): unknown {
  const members = (data ?? { name: 1 }) as Line;
  return { ...members, [random.pick(Object.keys(members))]: random.pick(VALUES) };
}

function deepValue(random: Random): unknown {
  const levels = random.pick([50, 101, 3_000]);
  return JSON.parse(`${'['.repeat(levels)}1${']'.repeat(levels)}`);
}

const HEADERS: Readonly<Record<string, readonly string[]>> = {
  tag: ['key', 'name', 'documentId', 'state', 'weight'],
  restaurant: [
    'key',
    'name',
    'content',
    'email',
    'slug',
    'kind',
    'stars',
    'visits',
    'price',
    'rating',
    'open',
    'foundedOn',
    'opensAt',
    'inspectedAt',
    'extra',
    'documentId',
    'state',
  ],
  article: ['key', 'title', 'summary', 'minutes', 'mood', 'locale', 'state', 'documentId'],
};
const CELLS = [
  '',
  '',
  'a',
  'A b',
  '1',
  '-1',
  '1.5',
  '1e400',
  '9223372036854775808',
  'true',
  'NULL',
  '2026-02-30',
  '2026-02-28',
  '25:00',
  '18:30',
  '2026-02-28T10:00:00Z',
  '{"a":[1]}',
  '[{"type":"paragraph","children":[{"type":"text","text":"x"}]}]',
  '[',
  'null',
  '"q"',
  'a,b',
  'a\nb',
  'a\r\nb',
  'ä𝄞',
  'calm',
  'bistro',
  'draft',
  'published',
  'live',
  'de',
  'en',
  'a@example.org',
  'x'.repeat(300),
  '\u0000',
  'a'.repeat(24),
  '__proto__',
  '['.repeat(3_000),
];

function makeCsv(random: Random): LinesInput {
  const type = random.pick(Object.keys(HEADERS));
  const known = HEADERS[type] ?? [];
  const columns = [...new Set(['key', ...random.sample(known, random.between(1, known.length))])];
  if (random.chance(0.1))
    columns.push(random.pick(['logo', 'chef', '', 'key', 'id', '__proto__', 'constructor', 'a;b']));
  const rows = Array.from({ length: random.between(0, 5) }, (_, at) =>
    columns.map((name) => (name === 'key' ? `k${at} ${random.between(0, 1e9)}` : random.pick(CELLS))),
  );
  const end = random.pick(['\n', '\r\n', '\r']);
  const quote = (cell: string) =>
    /[",\r\n]/.test(cell) || random.chance(0.1) ? `"${cell.replaceAll('"', '""')}"` : cell;
  const text =
    (random.chance(0.1) ? '\ufeff' : '') +
    [columns, ...rows].map((row) => row.map(quote).join(',')).join(end);
  const isDamaged = random.chance(0.25);
  // Rows with locales may be one document.
  const isCounted = !isDamaged && !columns.includes('locale');
  return {
    kind: 'lines',
    type,
    ...fileOf('a.csv', text, isDamaged, random),
    rows: isCounted ? rows.length : undefined,
  };
}
