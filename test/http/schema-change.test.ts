import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKitchenTypes } from '../support/kitchen.ts';
import {
  createDataDirectory,
  type RunningServer,
  spawnVarve,
  startServer,
  type VarveProcess,
} from '../support/server.ts';

/** A start with changed content types on data that is too much to be converted before anything is served. */
const contentTypes = createKitchenTypes();
const data = createDataDirectory();
let server: RunningServer | undefined;
let changed: VarveProcess | undefined;

beforeAll(async () => {
  server = await startServer({ contentTypes, data });
  for (const name of ['Ada', 'Bob']) expect((await post(server.url, { name })).status).toBe(201);
  expect((await server.stop()).code).toBe(0);
});
afterAll(async () => {
  changed?.child.kill('SIGKILL');
  await changed?.exited;
  await server?.dispose();
  for (const folder of [data, contentTypes]) rmSync(folder, { recursive: true, force: true });
});

function post(url: string, values: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}/api/cooks`, { method: 'POST', headers, body: JSON.stringify({ data: values }) });
}

/** Renames the cooks' name. */
function rename(): void {
  const file = join(contentTypes, 'cook', 'schema.json');
  const schema = JSON.parse(readFileSync(file, 'utf8'));
  const { name, ...others } = schema.attributes;
  const renamed = { ...name, pluginOptions: { varve: { renamedFrom: 'name' } } };
  writeFileSync(file, JSON.stringify({ ...schema, attributes: { fullName: renamed, ...others } }));
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, 'close');
  return port;
}

async function get(
  url: string,
): Promise<{ status: number; body: { data: Record<string, unknown>[] } & Record<string, unknown> }> {
  const answer = await fetch(url).catch(() => undefined);
  if (answer === undefined) return { status: 0, body: { data: [] } };
  return { status: answer.status, body: (await answer.json()) as never };
}

it('goes on as before, says so, and is another once the new generation is there', {
  timeout: 60_000,
}, async () => {
  rename();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  changed = spawnVarve([
    ...['serve', '--content-types', contentTypes, '--data', data, '--port', String(port)],
    ...['--convert-at-once', '0', '--log-format', 'json'],
  ]);
  const seen = new Set<string>();
  const notes = new Set<unknown>();
  let wrote: Promise<Response> | undefined;
  while (!seen.has('new')) {
    const { status, body } = await get(`${url}/api/cooks?sort=id`);
    if (status === 200) {
      const kinds = body.data.map((cook) => ('fullName' in cook ? 'new' : 'old'));
      expect(new Set(kinds).size).toBe(1);
      const values = body.data.map((cook) => cook['name'] ?? cook['fullName']);
      expect(values.slice(0, 2)).toEqual(['Ada', 'Bob']);
      seen.add(kinds[0] ?? '');
      if (kinds[0] === 'old') wrote ??= post(url, { fullName: 'Cyd' });
      notes.add((await get(`${url}/health/ready`)).body['note']);
    } else {
      // Only while nothing was served yet: never an error between the old and the new.
      expect([0, 503]).toContain(status);
      expect([...seen]).toEqual([]);
    }
    if (changed.child.exitCode !== null) throw new Error(changed.output());
  }
  expect([...seen]).toEqual(['old', 'new']);
  expect([...notes]).toContain(
    'The content types have changed: reads are answered as before until the new read model is there',
  );
  expect(changed.output()).toContain('api::cook.cook: name was removed or renamed');
  // A write that came meanwhile is carried out, or was told to come again.
  expect([201, 503]).toContain((await wrote)?.status);
  await expect.poll(async () => (await post(url, { fullName: 'Dan' })).status).toBe(201);
  expect((await get(`${url}/health/ready`)).body['note']).toBeUndefined();
  const { body } = await get(
    `${url}/api/cooks?filters[fullName][$in]=Ada&filters[fullName][$in]=Dan&sort=id`,
  );
  expect(body.data.map((cook) => cook['fullName'])).toEqual(['Ada', 'Dan']);
});

it('makes the read model anew beside the one that another version of the projector made', {
  timeout: 60_000,
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
  await expect.poll(generation, { timeout: 40_000, interval: 100 }).toBe(3);
  expect((await names()).slice(0, 2)).toEqual(['Ada', 'Bob']);
  expect(server.output()).toContain('another version of the projector made the read model');
  expect((await get(`${url}/health/ready`)).body['note']).toBeUndefined();
});
