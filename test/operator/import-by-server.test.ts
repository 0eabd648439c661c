import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { dataForTest } from '../support/data-for-test.ts';
import { digestOfData } from '../support/digest-of-data.ts';
import { jsonOf, runVarve } from '../support/run-varve.ts';
import { spawnVarve, startServer } from '../support/server.ts';
import { kitchenArchive } from '../support/strapi-archive.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Imports of archives into the log of a running server. */
const CORPUS = join(import.meta.dirname, '../support/archives/strapi-5.54-export.tar.gz');
const ROWS = 2_000;
const LONG = takesMinutes('imports by a server through kills');
const folder = mkdtempSync(join(tmpdir(), 'varve-by-server-'));
let kitchen: string;
beforeAll(async () => {
  kitchen = await kitchenArchive(join(folder, 'kitchen.tar.gz'), ROWS);
});
afterAll(() => rmSync(folder, { recursive: true }));

it('imports an archive with files while the server answers, as an import without a server does', {
  ...takesMinutes('archives that a server imports'),
  timeout: 300_000,
}, async () => {
  const [served, alone] = [dataForTest(), dataForTest()];
  const server = await startServer({ data: served, contentTypes: CORPUS });
  onTestFinished(() => server.dispose());
  const importing = jsonOf<{ documents: number; refused: readonly string[] }>([
    ...['import', CORPUS, '--json', '--data', served],
  ]);
  const ask = createAsk(server.url);
  expect((await ask('/api/restaurants')).status).toBe(200);
  expect(await importing).toMatchObject({ documents: 313, refused: [] });
  const { body } = await ask('/api/restaurants?pagination[pageSize]=1');
  expect(body.meta.pagination.total).toBeGreaterThan(0);
  expect(readdirSync(served).filter((name) => name.startsWith('scratch'))).toEqual([]);
  await server.stop();
  await jsonOf(['import', CORPUS, '--json', '--data', alone]);
  expect(digestOfData(served)).toEqual(digestOfData(alone));
});

it('continues an import that was killed together with its server', {
  ...LONG,
  timeout: 300_000,
}, async () => {
  const data = dataForTest();
  const first = await startServer({ data, contentTypes: kitchen });
  const importing = spawnVarve(['import', kitchen, '--data', data]);
  await expect
    .poll(async () => (await createAsk(first.url)('/api/cooks')).body.meta.pagination.total, {
      interval: 20,
      timeout: 30_000,
    })
    .toBeGreaterThan(0);
  await first.stop('SIGKILL');
  expect(await importing.exited).toMatchObject({ code: 1 });
  const second = await startServer({ data, contentTypes: kitchen });
  onTestFinished(() => second.dispose());
  const { stdout } = await runVarve(['import', kitchen, '--data', data]);
  expect(stdout).toMatch(
    /\d+ documents of Strapi 5\.54\.0 were imported, [1-9]\d* of them by an earlier import/,
  );
  await second.stop();
  const alone = dataForTest();
  await jsonOf(['import', kitchen, '--json', '--data', alone]);
  expect(digestOfData(data)).toEqual(digestOfData(alone));
});
