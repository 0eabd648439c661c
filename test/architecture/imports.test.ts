import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { checkImports, MODULE_FLOOR } from '../support/check-imports.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** A checkout made of these files, with this one's packages. */
async function checkoutOf(files: { readonly [file: string]: string }): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'varve-imports-'));
  folders.push(folder);
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  const dependencies = { dependencies: { fastify: '*', qs: '*' }, devDependencies: { vitest: '*' } };
  await writeFile(path.join(folder, 'package.json'), JSON.stringify(dependencies));
  return folder;
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

test('imports that the rules allow are no violation', async () => {
  const files = {
    'shared/sqlite/open-database.ts': `import { DatabaseSync } from 'node:sqlite'; export const open = DatabaseSync;`,
    'shared/event-store/sqlite/sqlite-event-store.ts': `import { open } from '../../sqlite/open-database.ts'; export const store = open;`,
    'services/main.ts': `import { store } from '../shared/event-store/sqlite/sqlite-event-store.ts'; export const main = store;`,
    'services/query/query-string.ts': `import qs from 'qs'; export const parse = qs.parse;`,
    'services/query/plan.ts': `import { parse } from './query-string.ts'; export const at = new Date(parse('a').length);`,
    'test/a.test.ts': `import { main } from '../services/main.ts'; import { test } from 'vitest'; test('a', main);`,
  };
  expect(await violationsOf(files)).toEqual([]);
});

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
    files: { 'services/a.ts': `import { vi } from 'vitest'; export const a = vi;` },
  },
  {
    rule: 'purity',
    files: { 'services/query/a.ts': `import { readFileSync } from 'node:fs'; readFileSync('a');` },
  },
  { rule: 'purity', files: { 'shared/document/a.ts': `import { randomUUID } from 'crypto'; randomUUID();` } },
  { rule: 'no-clock', files: { 'services/command/decide.ts': 'export const at = Date.now();' } },
  { rule: 'layers ^shared/', files: layers('shared/a.ts', 'projections/b.ts') },
  { rule: 'layers ^projections/', files: layers('projections/a.ts', 'services/http/b.ts') },
  { rule: 'layers ^services/query/', files: layers('services/query/a.ts', 'services/command/b.ts') },
  { rule: 'layers ^services/query/', files: layers('services/query/a.ts', 'projections/b.ts') },
  { rule: 'layers ^services/command/', files: layers('services/command/a.ts', 'services/http/b.ts') },
  { rule: 'layers ^services/command/', files: layers('services/command/a.ts', 'services/query/b.ts') },
  {
    rule: 'driver ^(node:)?sqlite',
    files: { 'projections/a.ts': `import { DatabaseSync } from 'node:sqlite'; DatabaseSync;` },
  },
  { rule: 'driver node_modules/(@types/)?qs/', files: { 'services/http/a.ts': `import qs from 'qs'; qs;` } },
  {
    rule: 'driver node_modules/(@fastify/|fastify)',
    files: {
      'services/main.ts': `import type { FastifyInstance } from 'fastify'; export type A = FastifyInstance;`,
    },
  },
  {
    rule: 'adapter ^shared/event-store/sqlite/',
    files: layers('projections/a.ts', 'shared/event-store/sqlite/b.ts'),
  },
  {
    rule: 'adapter ^shared/read-index/embedded/',
    files: layers('services/query/a.ts', 'shared/read-index/embedded/b.ts'),
  },
])('$rule is enforced', async ({ rule, files }) => {
  const violations = await violationsOf(files);
  expect(violations).not.toEqual([]);
  for (const violation of violations) expect(violation.startsWith(rule)).toBe(true);
});

/** A type import from one file to another: the weakest kind there is. */
function layers(from: string, to: string): { [file: string]: string } {
  const specifier = path.relative(path.dirname(from), to);
  return {
    [from]: `import type { B } from '${specifier.startsWith('.') ? specifier : `./${specifier}`}'; export type A = B;`,
    [to]: 'export type B = 1;',
  };
}
