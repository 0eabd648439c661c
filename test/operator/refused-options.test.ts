import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { needsReach, WITHOUT_ROOT } from '../support/other-user.ts';
import { runVarve } from '../support/run-varve.ts';
import { CONFORMANCE_SCHEMA, VARVE } from '../support/server.ts';

const folder = mkdtempSync(join(tmpdir(), 'varve-options-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a data directory that does not exist', () => {
  it.each([['verify'], ['status'], ['events'], ['rebuild'], ['webhook', 'list']])(
    'is not made by varve %s %s',
    async (...args) => {
      const data = join(folder, 'typing-error');
      const { code, stderr } = await runVarve([...args, '--data', data]);
      expect([code, stderr]).toEqual([1, expect.stringContaining('is not a Varve data directory')]);
      expect(existsSync(data)).toBe(false);
    },
  );
});

it.for([['status'], ['rebuild'], ['backup', join(folder, 'backup')], ['token', 'list']])(
  'varve %s says that the data directory belongs to another user',
  needsReach(),
  (args) => {
    const data = mkdtempSync(join(folder, 'private-'));
    writeFileSync(join(data, 'events.db'), '');
    chmodSync(data, 0);
    chmodSync(folder, 0o755);
    const { status, stderr } = spawnSync(process.execPath, [...VARVE, ...args, '--data', data], {
      encoding: 'utf8',
      ...WITHOUT_ROOT,
    });
    chmodSync(data, 0o700);
    expect([status, stderr]).toEqual([1, expect.stringContaining('belongs to another user')]);
  },
);

it.each(['serve', 'import'])(
  'varve %s ends with a message if the system cannot create the folder',
  async (command) => {
    const args = command === 'import' ? ['import', 'package.json'] : ['serve', '--port', '0'];
    const options = ['--content-types', CONFORMANCE_SCHEMA, '--data', '/proc/varve/data'];
    const { code, stderr } = await runVarve([...args, ...options]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^varve \w+: (ENOENT|EROFS): .*, mkdir '/)]);
  },
);

it('varve import of a folder is refused with its name', async () => {
  const { code, stderr } = await runVarve(['import', folder, '--data', join(folder, 'none')]);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${folder} is a folder: name the files`)]);
});

it.each([
  ['--dry-run', { code: 0, stderr: '' }],
  [
    '--json',
    {
      code: 1,
      stderr: expect.stringContaining("--json needs Strapi's archive or database, and no other files"),
    },
  ],
  ['--type=tag', { code: 1, stderr: expect.stringContaining('--type is for CSV files') }],
])('varve import %s of lines writes nothing', async (option, ended) => {
  const [file, data] = [join(folder, 'lines.jsonl'), join(folder, `data${option}`)];
  writeFileSync(file, `${JSON.stringify({ type: 'tag', data: { key: 'a', name: 'a' } })}\n`);
  const args = ['import', file, option, '--content-types', CONFORMANCE_SCHEMA, '--data', data];
  expect(await runVarve(args)).toMatchObject(ended);
  expect(existsSync(data)).toBe(false);
});

it('varve webhook add names the option that is wrong', async () => {
  const { code, stderr } = await runVarve([
    ...['webhook', 'add', 'https://example.org', '--header', 'A: 1', '--header', 'a: 2', '--data', folder],
  ]);
  expect([code, stderr]).toEqual([1, expect.stringContaining('  --header has the same header twice')]);
});
