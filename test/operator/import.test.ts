import { globSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { CONFORMANCE_SCHEMA, createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const FIXTURES = globSync(join(CONFORMANCE_SCHEMA, '../fixtures/*.jsonl')).sort();

async function startForTest() {
  const server = await startServer();
  onTestFinished(() => server.dispose());
  const importFiles = (...files: readonly string[]) =>
    runVarve(['import', ...files, '--content-types', CONFORMANCE_SCHEMA, '--data', server.data]);
  return { server, ask: createAsk(server.url), importFiles };
}

it('imports while a server answers requests; a second run changes nothing', {
  ...takesMinutes('imports under load'),
  timeout: 300_000,
}, async () => {
  const { ask, importFiles } = await startForTest();
  const totals = async () => {
    const paths = ['/api/restaurants?populate=*', '/api/articles?locale=*', '/api/users'];
    const answers = await Promise.all(paths.map((path) => ask(path)));
    return answers.map(({ body }) => body.meta?.pagination.total ?? body.length);
  };
  // A client writes during the import.
  let isWriting = true;
  let written = 0;
  const writing = (async () => {
    while (isWriting) {
      const data = { key: `w${written}`, name: `Written ${written}` };
      const { status, body } = await ask('/api/countries', { method: 'POST', body: { data } });
      expect(status, JSON.stringify(body)).toBe(201);
      written++;
    }
  })();
  const first = await importFiles(...FIXTURES);
  expect(first, first.stderr).toMatchObject({ code: 0 });
  expect(first.stdout).toMatch(/^\d+ documents in /);
  isWriting = false;
  await writing;
  expect(written).toBeGreaterThan(0);
  // Counted in the fixtures: published restaurants, published articles, users.
  expect(await totals()).toEqual([63, 28, 8]);
  const { body } = await ask('/api/restaurants?sort=key&pagination[pageSize]=100&populate=*');
  expect(await importFiles(...FIXTURES)).toMatchObject({ code: 0 });
  expect((await ask('/api/restaurants?sort=key&pagination[pageSize]=100&populate=*')).body).toEqual(body);
});

it('names the lines that it refuses: a value that is taken, and a line that is not a document', async () => {
  const { ask, importFiles } = await startForTest();
  const folder = createDataDirectory();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { status } = await ask('/api/countries', {
    method: 'POST',
    body: { data: { key: 'no', name: 'Norway' } },
  });
  expect(status).toBe(201);
  const file = join(folder, 'countries.jsonl');
  const line = (key: string, name: string) =>
    JSON.stringify({ type: 'country', key, state: 'live', data: { key, name } });
  writeFileSync(file, [line('no', 'Norway'), line('pe', 'Peru'), 'nonsense'].join('\n'));
  const { code, stdout, stderr } = await importFiles(file);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^1 documents in /);
  expect(stderr).toContain(`${file}:1: `);
  expect(stderr).toContain('must be unique');
  expect(stderr).toContain(`${file}:3: `);
  const names = (await ask('/api/countries')).body.data.map(({ name }: { name: string }) => name);
  expect(names.sort()).toEqual(['Norway', 'Peru']);
});
