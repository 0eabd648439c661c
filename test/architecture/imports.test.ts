import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { checkImports, MODULE_FLOOR } from '../support/check-imports.ts';
import { RAW_READS, STREAM_READS } from '../support/import-rules.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** Creates a checkout with these files and the packages of this one. Its table has a row for each folder, in the order of the files. */
async function checkoutOf(files: { readonly [file: string]: string }): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'varve-imports-'));
  folders.push(folder);
  const all = { 'docs/architecture.md': pageOf(anythingGoes(Object.keys(files))), ...files };
  for (const [file, text] of Object.entries(all)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  const dependencies = { dependencies: { fastify: '*', qs: '*' }, devDependencies: { vitest: '*' } };
  await writeFile(path.join(folder, 'package.json'), JSON.stringify(dependencies));
  return folder;
}

function anythingGoes(files: readonly string[]): string {
  const folders = new Set(
    files.filter((file) => /^(shared|projections|services)\//.test(file)).map(path.dirname),
  );
  return [...folders].map((folder) => `| \`${folder}\` | it | every room above | |`).join('\n');
}

function pageOf(rows: string): string {
  return `# Architecture\n\n## Where things are\n\n| folder | |\n|---|---|\n${rows}\n\n## One read\n`;
}

async function violationsOf(files: { readonly [file: string]: string }): Promise<readonly string[]> {
  return (await checkImports(await checkoutOf(files))).violations;
}

test('every module of this checkout is read and keeps the rules', async () => {
  const { modules, dependencies, violations } = await checkImports(root);
  expect(violations).toEqual([]);
  expect(modules).toBeGreaterThanOrEqual(MODULE_FLOOR);
  expect(dependencies).toBeGreaterThanOrEqual(MODULE_FLOOR);
});

/** A call of the log's `readAll` or `subscribe`, and not of those of a graph or of effective events. */
const RAW_READ = /(?<!\b(graph|events))\.(readAll|subscribe)\(/;

test.each([
  ['for await (const events of log.readAll(0n)) {}', true],
  ['const { done } = options.eventStore.subscribe(after, take);', true],
  ['for (const batch of store.graph.readAll()) {}', false],
  ['options.events.subscribe(after, take);', false],
])('knows a raw read of the log: %s', (text, isRaw) => {
  expect(RAW_READ.test(text)).toBe(isRaw);
});

test.each([
  { what: 'log', call: RAW_READ, files: RAW_READS },
  { what: 'streams', call: /\.readStream\(/, files: STREAM_READS },
])('only these files read the $what with events that may not count', ({ call, files }) => {
  const adapters =
    /^shared\/event-store\/(sqlite|kurrentdb)\/|^services\/operating\/observe-event-store\.ts$/;
  const product = globSync('{services,shared,projections}/**/*.ts', { cwd: root });
  const raw = product.filter((file) => call.test(readFileSync(path.join(root, file), 'utf8')));
  expect(raw.filter((file) => !adapters.test(file)).sort()).toEqual(files);
});

test('accepts imports that the rules allow', async () => {
  const files = {
    'docs/architecture.md': pageOf(
      [
        '| `shared/sqlite` | files | | `node:sqlite` |',
        '| `shared/event-store/sqlite` | the log | `shared/sqlite` | |',
        '| `services/query` | plans. Pure but for `now.ts` | | `qs` |',
        '| `services` | all of it | `shared/event-store/*`, `services/query` | |',
      ].join('\n'),
    ),
    'shared/sqlite/open-database.ts': `import { DatabaseSync } from 'node:sqlite'; export const open = DatabaseSync;`,
    'shared/event-store/sqlite/sqlite-event-store.ts': `import { open } from '../../sqlite/open-database.ts'; export const store = open;`,
    'services/query/query-string.ts': `import qs from 'qs'; export const parse = qs.parse;`,
    'services/query/plan.ts': `import { parse } from './query-string.ts'; export const at = new Date(parse('a').length);`,
    'services/query/now.ts': `import { hrtime } from 'node:process'; export const now = () => [Date.now(), hrtime()];`,
    'services/main.ts': `import { store } from '../shared/event-store/sqlite/sqlite-event-store.ts'; import { at } from './query/plan.ts'; export const main = [store, at];`,
    'test/a.test.ts': `import { main } from '../services/main.ts'; import { test } from 'vitest'; test('a', () => main);`,
  };
  expect(await violationsOf(files)).toEqual([]);
});

const PURE_QUERY = pageOf('| `services/query` | plans. Pure | | |');

test.each<{ rule: string; files: { readonly [file: string]: string } }>([
  {
    rule: 'no-cycles',
    files: {
      'shared/a.ts': `import type { B } from './b.ts'; export type A = B | 1;`,
      'shared/b.ts': `import type { A } from './a.ts'; export type B = A | 2;`,
    },
  },
  { rule: 'no-unresolved', files: { 'shared/a.ts': `import { b } from './b.ts'; export const a = b;` } },
  { rule: 'no-barrels', files: { 'shared/index.ts': 'export const a = 1;' } },
  {
    rule: 'no-test-imports',
    files: {
      'test/support/a.ts': 'export const a = 1;',
      'projections/b.ts': `export { a } from '../test/support/a.ts';`,
    },
  },
  {
    rule: 'no-dev-dependencies',
    files: {
      'docs/architecture.md': pageOf('| `services` | it | | `vitest` |'),
      'services/a.ts': `import { vi } from 'vitest'; export const a = vi;`,
    },
  },
  {
    rule: 'purity',
    files: {
      'docs/architecture.md': PURE_QUERY,
      'services/query/a.ts': `import { readFileSync } from 'node:fs'; readFileSync('a');`,
    },
  },
  {
    rule: 'purity',
    files: {
      'docs/architecture.md': PURE_QUERY,
      'services/query/a.ts': `import { randomUUID } from 'crypto'; randomUUID();`,
    },
  },
  {
    rule: 'no-clock',
    files: {
      'docs/architecture.md': PURE_QUERY,
      'services/query/a.ts': 'export const at = Date.now();',
    },
  },
  { rule: 'no-clock', files: { 'services/command/decide.ts': 'export const at = Date.now();' } },
  {
    rule: 'one-parser',
    files: {
      'docs/architecture.md': pageOf('| `services/http` | it | | `qs` |'),
      'services/http/a.ts': `import qs from 'qs'; qs;`,
    },
  },
  {
    rule: 'raw-events',
    files: {
      'shared/event-store/raw-events.ts': 'export const rawEvents = 1;',
      'services/webhooks/a.ts': `import { rawEvents } from '../../shared/event-store/raw-events.ts'; export const a = rawEvents;`,
    },
  },
  {
    rule: 'one-reader',
    files: {
      'shared/fleet/claims.ts': 'export const createClaims = 1;',
      'services/webhooks/a.ts': `import { createClaims } from '../../shared/fleet/claims.ts'; export const a = createClaims;`,
    },
  },
  { rule: 'room services:', files: { 'services/a.ts': `import 'fastify'; export const a = 1;` } },
  { rule: 'upward', files: layers('services/a.ts', 'services/http/b.ts') },
])('$rule is enforced', async ({ rule, files }) => {
  const violations = await violationsOf(files);
  expect(violations).not.toEqual([]);
  for (const violation of violations) expect(violation.startsWith(rule)).toBe(true);
});

/** Returns files with an import from a room to one whose row is below. It is a type import, the weakest kind. */
function layers(from: string, to: string): { [file: string]: string } {
  const specifier = path.relative(path.dirname(from), to);
  return {
    [from]: `import type { B } from '${specifier.startsWith('.') ? specifier : `./${specifier}`}'; export type A = B;`,
    [to]: 'export type B = 1;',
  };
}
