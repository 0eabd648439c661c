import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { type KurrentDbDouble, startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { runVarve } from '../support/run-varve.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** An operator of KurrentDB deletes, truncates and scavenges Varve's streams while a server runs. */

const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');
const KEYS = ['deleted', 'gone', 'truncated', 'whole'];

let double: KurrentDbDouble;
let server: RunningServer;
const started: RunningServer[] = [];
let documents: readonly string[];
const start = async (data?: string) => {
  const args = ['--event-store', double.url, '--access-key', ACCESS_KEY];
  const running = await startServer({ arguments: args, ...(data !== undefined && { data }) });
  started.push(running);
  return running;
};
const verify = () => runVarve(['verify', '--data', server.data, '--event-store', double.url]);
const call = (method: 'GET' | 'PUT' | 'POST', path: string, data?: unknown) =>
  createApiClient(server.url).call<{ readonly documentId: string }>(method, path, data && { data });
const streamOf = (key: string) => `varve.api__tag_tag-${documents[KEYS.indexOf(key)]}`;
const put = (key: string, name: string) => call('PUT', `/api/tags/${documents[KEYS.indexOf(key)]}`, { name });

beforeAll(async () => {
  double = await startKurrentDbDouble({ server: '26.1' });
  server = await start();
  const made = [];
  for (const key of KEYS) made.push(await call('POST', '/api/tags', { key }));
  documents = made.map(({ data }) => data.documentId);
  for (const key of KEYS) expect((await put(key, 'one')).status).toBe(200);
});
afterEach(() => expect(server.output()).not.toContain('rejection'));
afterAll(async () => {
  for (const each of started.reverse()) await each.dispose();
  double.stop();
});

it('documents with deleted or truncated streams can be changed; a document with a tombstoned stream is refused with the reason', async () => {
  double.log.delete(streamOf('deleted'));
  double.log.tombstone(streamOf('gone'));
  double.log.setMetadata(streamOf('truncated'), { truncateBefore: 2n });
  expect(await put('deleted', 'two')).toMatchObject({ status: 200, data: { name: 'two' } });
  expect(await put('truncated', 'two')).toMatchObject({ status: 200, data: { name: 'two' } });
  expect(await put('gone', 'two')).toMatchObject({
    status: 409,
    error: {
      name: 'ConflictError',
      message: 'The document cannot be changed: its stream was deleted for good in the event log',
    },
  });
  expect(await put('whole', 'two')).toMatchObject({ status: 200 });
  expect((await verify()).stdout).toContain('no differences');
});

it.each(['deleted', 'gone'] as const)(
  'a restart keeps the read model when the stream of its last event was %s',
  takesMinutes('restarts after deletions in the log'),
  async (how) => {
    const made = await call('POST', '/api/tags', { key: `last-${how}` });
    const stream = `varve.api__tag_tag-${made.data.documentId}`;
    await server.stop();
    if (how === 'deleted') double.log.delete(stream);
    if (how === 'gone') double.log.tombstone(stream);
    server = await start(server.data);
    expect(server.output()).not.toContain('rebuilt from the log');
    expect(JSON.stringify(await call('GET', '/api/tags'))).toContain(`last-${how}`);
  },
);

it(
  'a start is refused if the claims of the lease were truncated, and works when they can be read again',
  takesMinutes('a truncated lease'),
  async () => {
    await server.stop();
    double.log.setMetadata('varve.lease', { truncateBefore: 1_000n });
    await expect(start(server.data)).rejects.toThrow(
      /the stream varve.lease ends with the claim of epoch 0, and the log had one of epoch \d+.*\$tb, \$maxCount and \$maxAge/,
    );
    double.log.setMetadata('varve.lease', {});
    server = await start(server.data);
    expect((await put('whole', 'three')).status).toBe(200);
  },
);

it(
  'verify reports scavenged events; a current read model starts, and a replay says what is missing',
  takesMinutes('a scavenged log'),
  async () => {
    double.log.scavenge();
    const { code, stdout } = await verify();
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('revisions 0 to 1 before it are missing from its stream'),
    ]);
    await server.stop();
    await expect(start()).rejects.toThrow(
      /entry-changed of api::tag.tag \S+ at position \d+ cannot be applied: the entry to change does not exist. It is revision 2 of the stream varve\.api__tag_tag-\S+, and no earlier revision creates this entry: run varve verify/,
    );
    server = await start(server.data);
    expect((await put('whole', 'four')).status).toBe(200);
  },
);
