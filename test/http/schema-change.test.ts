import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tryLockFile } from '../../shared/sqlite/lock-file.ts';
import { get, postCook, renameCooks, startChanged, watchChange } from '../support/changed-kitchen.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import {
  createDataDirectory,
  type RunningServer,
  startServer,
  type VarveProcess,
} from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A start with changed content types and more data than a start converts before it serves. */
const contentTypes = createKitchenTypes();
const data = createDataDirectory();
let server: RunningServer | undefined;
let changed: VarveProcess | undefined;

beforeAll(async () => {
  server = await startServer({ contentTypes, data });
  for (const name of ['Ada', 'Bob']) expect((await postCook(server.url, { name })).status).toBe(201);
  expect((await server.stop()).code).toBe(0);
});
afterAll(async () => {
  changed?.child.kill('SIGKILL');
  await changed?.exited;
  await server?.dispose();
  for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
});

it('answers as before, reports this, and answers with the new content types when their generation is live', {
  timeout: 300_000,
}, async () => {
  renameCooks(contentTypes);
  // No copy of the graph is made before the lock is released.
  const building = tryLockFile(join(data, 'rebuild.db'));
  const started = await startChanged(contentTypes, ['--data', data]);
  const { url } = started;
  changed = started.varve;
  let wrote: number | undefined;
  const versionOf = (cook: Record<string, unknown>) => ('fullName' in cook ? 'new' : 'old');
  const { seen, notes } = await watchChange(started, versionOf, async () => {
    wrote ??= (await postCook(url, { name: 'Cyd' })).status;
    // The new content types do not have this name. It is accepted until the earlier ones are replaced.
    const found = await get(`${url}/api/cooks?filters[name][$contains]=A`);
    if (found.status !== 400) expect(found.body.data.map((cook) => cook['name'])).toEqual(['Ada']);
    building?.release();
  });
  expect(seen).toEqual(['old', 'new']);
  expect(notes).toContain(
    'The content types have changed: requests are answered as before until the new read model is live',
  );
  expect(changed.output()).toContain('api::cook.cook: name was removed or renamed');
  expect(wrote).toBe(201);
  expect((await postCook(url, { fullName: 'Dan' })).status).toBe(201);
  await expect.poll(async () => (await get(`${url}/health/ready`)).body['note']).toBeUndefined();
  const { body } = await get(
    `${url}/api/cooks?filters[fullName][$in]=Cyd&filters[fullName][$in]=Dan&sort=id`,
  );
  expect(body.data.map((cook) => cook['fullName'])).toEqual(['Cyd', 'Dan']);
});
it('rebuilds a read model of another projector version, which answers until then', {
  ...takesMinutes('a read model of another version'),
  timeout: 240_000,
}, async () => {
  changed?.child.kill('SIGTERM');
  expect((await changed?.exited)?.code).toBe(0);
  changed = undefined;
  const db = new DatabaseSync(join(data, 'graph-2.db'));
  db.exec("INSERT OR REPLACE INTO meta VALUES ('projector', 0)");
  db.close();
  server = await startServer({ contentTypes, data });
  const { url } = server;
  const generation = async () => {
    const { body } = await get(`${url}/_varve/projections`);
    return (body.data as unknown as { projections: { generation: number }[] }).projections[0]?.generation;
  };
  const names = async () => (await get(`${url}/api/cooks?sort=id`)).body.data.map((cook) => cook['fullName']);
  expect((await names()).slice(0, 2)).toEqual(['Ada', 'Bob']);
  await expect.poll(generation, { timeout: 60_000, interval: 100 }).toBe(3);
  expect((await names()).slice(0, 2)).toEqual(['Ada', 'Bob']);
  expect(server.output()).toContain('another version of the projector made the read model');
  // The read model of the earlier version had no journal of changes.
  await expect.poll(async () => (await get(`${url}/api/_changes`)).status, { timeout: 60_000 }).toBe(200);
  // The new generation is recorded before the process of the earlier one is gone.
  const note = async () => (await get(`${url}/health/ready`)).body['note'];
  await expect.poll(note, { timeout: 60_000, interval: 100 }).toBeUndefined();
});
