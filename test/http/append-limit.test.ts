import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { type KurrentDbDouble, startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { runVarve } from '../support/run-varve.ts';
import {
  CONFORMANCE_SCHEMA,
  createDataDirectory,
  type RunningServer,
  startServer,
} from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Writes that are larger than one append to the log's server may be. */

const LIMIT = 20_000;
const RAISE = `the event log accepts at most ${LIMIT} bytes in one append: raise MaxAppendSize of its server`;
const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');

let double: KurrentDbDouble;
const servers: RunningServer[] = [];
const folders: string[] = [];
const start = async (...more: readonly string[]) => {
  const server = await startServer({
    arguments: ['--event-store', double.url, '--access-key', ACCESS_KEY, ...more],
  });
  servers.push(server);
  return { server, ...createApiClient(server.url) };
};
const newFolder = () => {
  const folder = createDataDirectory();
  folders.push(folder);
  return folder;
};
afterEach(async () => {
  for (const server of servers.splice(0)) await server.dispose();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  double.stop();
});

const review = (key: string, text: string) => ({ data: { key, text } });

it('every process refuses an entry that is too large with 413 and the limit, and stores nothing of it', async () => {
  double = await startKurrentDbDouble({ maxAppendSize: LIMIT });
  const [leader, follower] = [await start(), await start()];
  for (const { call } of [leader, follower]) {
    expect(await call('POST', '/api/reviews', review('large', 'x'.repeat(LIMIT)))).toMatchObject({
      status: 413,
      data: null,
      error: {
        status: 413,
        name: 'PayloadTooLargeError',
        message: `The entry is too large for the event log, which accepts at most ${LIMIT} bytes for all events of a write`,
        details: { limit: LIMIT },
      },
    });
    // The log may get other events meanwhile: on a busy machine the other process claims the lease.
    expect([...double.log.records].filter(({ data }) => Buffer.from(data).includes('xxxxxxxx'))).toEqual([]);
  }
  expect((await follower.call('POST', '/api/reviews', review('small', 'x'))).status).toBe(201);
});

it(
  'an entry above the limit of a message to the server is refused with 413 at once',
  takesMinutes('limits of the log server'),
  async () => {
    double = await startKurrentDbDouble();
    const { call, server } = await start('--body-limit', '40000000');
    const before = { ...double.calls };
    expect(await call('POST', '/api/reviews', review('large', 'x'.repeat(17_000_000)))).toMatchObject({
      status: 413,
      data: null,
      error: {
        status: 413,
        name: 'PayloadTooLargeError',
        message: expect.stringContaining('The entry is too large for the event log'),
      },
    });
    expect(double.calls.append - before.append).toBe(0);
    expect(server.output()).not.toContain('retry');
  },
);

it(
  'an import refuses lines that are too large and writes the others, with and without a server',
  takesMinutes('limits of the log server'),
  async () => {
    double = await startKurrentDbDouble({ maxAppendSize: LIMIT });
    const { server, call } = await start();
    const line = (key: string, text: string) =>
      JSON.stringify({ type: 'review', key, state: 'live', data: { key, text } });
    const importInto = async (data: string, prefix: string) => {
      const file = join(newFolder(), 'reviews.jsonl');
      const lines = [
        line(`${prefix}1`, 'one'),
        line(`${prefix}2`, 'x'.repeat(LIMIT)),
        line(`${prefix}3`, 'three'),
      ];
      writeFileSync(file, lines.join('\n'));
      const types = ['--content-types', CONFORMANCE_SCHEMA, '--access-key', ACCESS_KEY];
      return runVarve(['import', file, ...types, '--data', data, '--event-store', double.url]);
    };
    const asked = await importInto(server.data, 'a');
    const total = (await call<unknown[]>('GET', '/api/reviews')).data.length;
    await server.stop();
    const offline = await importInto(newFolder(), 'b');
    for (const { code, stdout, stderr } of [asked, offline]) {
      expect([code, stdout]).toEqual([1, expect.stringMatching(/^2 documents in /)]);
      expect(stderr).toContain(`reviews.jsonl:2: the document is too large: ${RAISE}`);
    }
    expect(total).toBe(2);
  },
);

it(
  'an import of an export names an event that is too large; content types that are too large end the start',
  takesMinutes('limits of the log server'),
  async () => {
    double = await startKurrentDbDouble();
    const { call, server } = await start();
    expect((await call('POST', '/api/reviews', review('large', 'x'.repeat(LIMIT)))).status).toBe(201);
    await server.stop();
    const file = join(newFolder(), 'log.jsonl');
    const store = ['--event-store', double.url];
    expect(await runVarve(['export', file, '--data', server.data, ...store])).toMatchObject({ code: 0 });
    double.stop();
    double = await startKurrentDbDouble({ maxAppendSize: LIMIT });
    const types = ['--content-types', CONFORMANCE_SCHEMA, '--access-key', ACCESS_KEY];
    const imported = await runVarve([
      'import',
      file,
      ...types,
      '--data',
      newFolder(),
      '--event-store',
      double.url,
    ]);
    expect([imported.code, imported.stderr]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(`revision 0 of api__review_review-\\S+ cannot be imported: ${RAISE}, and import again`),
      ),
    ]);
    double.stop();
    double = await startKurrentDbDouble({ maxAppendSize: 1_000 });
    await expect(start()).rejects.toThrow(
      /the content type api::\S+ cannot be stored: the event log accepts at most 1000 bytes in one append: raise MaxAppendSize/,
    );
  },
);
