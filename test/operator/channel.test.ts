import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Status } from '../../services/operator/status.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import type { DirectoryHolder } from '../../shared/sqlite/lock-data-directory.ts';
import { lockDataDirectory } from '../../shared/sqlite/lock-data-directory.ts';
import { jsonOf, runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';

let server: RunningServer;
let channel: NonNullable<DirectoryHolder['channel']>;

beforeAll(async () => {
  server = await startServer();
  const holder = JSON.parse(readFileSync(join(server.data, 'lock.json'), 'utf8')) as DirectoryHolder;
  if (holder.channel === undefined) throw new Error('the lock file names no channel');
  channel = holder.channel;
});
afterAll(() => server.dispose());

describe('the channel of operators', () => {
  it('has its own loopback address, in a file that only the owner may read', () => {
    expect(channel.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(channel.address).not.toBe(server.url);
    expect(channel.secret.length).toBeGreaterThanOrEqual(43);
    expect(statSync(join(server.data, 'lock.json')).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['none', undefined],
    ['another of the same length', 'x'.repeat(43)],
    ['another', 'secret'],
  ])('refuses a request whose secret is %s', async (_what, secret) => {
    const headers = secret === undefined ? {} : { 'x-varve-operator': secret };
    for (const [method, path] of [
      ['POST', '/_varve/operations/status'],
      ['GET', '/_varve/projections'],
    ] as const) {
      const answer = await fetch(channel.address + path, { method, headers });
      expect(answer.status).toBe(403);
    }
  });

  it('has operations that the port of the API does not run for anybody', async () => {
    const headers = { 'x-varve-operator': channel.secret, 'content-type': 'application/json' };
    for (const name of ['import', 'take-over', 'level']) {
      const url = `${server.url}/_varve/operations/${name}`;
      const answer = await fetch(url, { method: 'POST', headers, body: '{"data":{}}' });
      expect(answer.status, name).toBe(404);
    }
  });

  it('says what is wrong with a request, and stays open', async () => {
    const send = async (name: string, body: string) => {
      const url = `${channel.address}/_varve/operations/${name}`;
      const headers = { 'x-varve-operator': channel.secret };
      return (await fetch(url, { method: 'POST', headers, body })).text();
    };
    expect(await send('nonsense', '{}')).toContain('there is no operation nonsense');
    expect(await send('status', '{"more":1}')).toMatch(/^\{"failed":"status: .*more/);
    expect(await send('status', '{')).toBe('The request is not JSON\n');
    expect(await send('status', '{}')).toMatch(/\{"done":true\}\n$/);
  });

  it('shows the positions of projections to the secret, and the API shows them to full access only', async () => {
    const bySecret = await fetch(`${channel.address}/_varve/projections`, {
      headers: { 'x-varve-operator': channel.secret },
    });
    const { data } = (await bySecret.json()) as { data: Status };
    expect(data.projections.map(({ name }) => name)).toEqual(['content graph', 'read index']);
    const inDevelopment = await fetch(`${server.url}/_varve/projections`);
    expect(inDevelopment.status).toBe(200);
    const own = ['--data', server.data];
    const tokenOf = async (type: string) =>
      (await runVarve(['token', 'create', '--name', type, '--type', type, ...own])).stdout.trim();
    const tokens = { 'read-only': await tokenOf('read-only'), 'full-access': await tokenOf('full-access') };
    const statusOf = async (token?: string) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return (await fetch(`${server.url}/_varve/projections`, { headers })).status;
    };
    await expect.poll(() => statusOf(tokens['full-access'])).toBe(200);
    expect(await statusOf(tokens['read-only'])).toBe(403);
    expect(await statusOf()).toBe(403);
    const headers = { 'x-varve-operator': channel.secret };
    const operation = await fetch(`${server.url}/_varve/operations/status`, { method: 'POST', headers });
    expect(operation.status, 'the API does not accept the secret').toBe(403);
  });
});

describe('a directory that a command holds', () => {
  it('refuses another command with a message that names the process', async () => {
    const data = createDataDirectory();
    onTestFinished(() => rmSync(data, { recursive: true, force: true }));
    await openSqliteEventStore(join(data, 'events.db'), { space: 'varve' }).close();
    const lock = lockDataDirectory(data);
    const { code, stderr } = await runVarve(['drop', '--data', data]);
    lock.release();
    expect(code).toBe(1);
    expect(stderr).toContain(`is in use by process ${process.pid}`);
    expect((await jsonOf<Status>(['status', '--json', '--data', data])).server).toBeNull();
  });
});
