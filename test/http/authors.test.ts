import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { validateEvent } from '../../shared/events/validate-event.ts';
import { createAsk } from '../support/access-client.ts';
import { startFleet, type TestFleet } from '../support/fleet.ts';
import { runVarve } from '../support/run-varve.ts';

/** All writes go to a standby. The author of a write must reach the leader. */
let fleet: TestFleet;
let ask: ReturnType<typeof createAsk>;
beforeAll(async () => {
  fleet = await startFleet({ size: 2 });
  const leader = await fleet.leader();
  const follower = fleet.members.find((member) => member !== leader);
  ask = createAsk(follower?.server().url ?? '');
});
afterAll(() => fleet.dispose());

async function readLog(): Promise<readonly StoredEvent[]> {
  const log = openSqliteEventStore(fleet.eventStore.slice('sqlite:'.length), { space: 'varve' });
  const events = (await Array.fromAsync(log.readAll(0n))).flat();
  await log.close();
  return events;
}

const createTag = (key: string, headers: Record<string, string>) =>
  ask('/api/tags', { method: 'POST', body: { data: { key } }, headers });

async function tagCreated(key: string): Promise<StoredEvent | undefined> {
  return (await readLog()).find(({ data }) => (data as { values?: { key?: string } }).values?.key === key);
}

it('names the process as the author of its own events', async () => {
  const events = await readLog();
  expect(events.length).toBeGreaterThan(5);
  for (const event of events) expect(validateEvent(event)).toBeUndefined();
  for (const { type, metadata } of events) {
    const via = type === 'leader-elected' ? 'claim-lead' : 'define-content-type';
    if (type === 'leader-elected' || type === 'content-type-defined')
      expect(metadata).toMatchObject({ actor: { kind: 'process', id: expect.any(String) }, via });
  }
});

it('names callers in development, with a token and without, the request and the trace', async () => {
  const trace = '0af7651916cd43dd8448eb211c80319c';
  const headers = { 'x-request-id': 'r-1', traceparent: `00-${trace}-b7ad6b7169203331-01` };
  expect((await createTag('one', headers)).status).toBe(201);
  expect((await tagCreated('one'))?.metadata).toMatchObject({
    ...{ actor: { kind: 'development' }, via: 'create', correlationId: 'r-1', traceId: trace },
  });

  const own = ['--data', fleet.members[0]?.data ?? '', '--event-store', fleet.eventStore];
  const created = await runVarve(['token', 'create', '--name', 'writer', '--type', 'full-access', ...own]);
  expect(created.code, created.stderr).toBe(0);
  expect(created.stderr).toContain('Development mode ends with this token');
  const secret = created.stdout.trim();
  const authorization = `Bearer ${secret}`;
  await expect.poll(async () => (await createTag('two', { authorization })).status).toBe(201);
  const { actor, via, traceId } = (await tagCreated('two'))?.metadata ?? {};
  expect([actor, via, traceId]).toEqual([
    { kind: 'token', id: expect.stringMatching(/^[a-z0-9]{10}$/), name: 'writer' },
    'create',
    undefined,
  ]);

  const rights = { data: { allow: ['tag.create'] } };
  const changed = await ask('/_varve/public', { method: 'PUT', body: rights, headers: { authorization } });
  expect(changed.status, JSON.stringify(changed.body)).toBe(200);
  await expect.poll(async () => (await createTag('three', {})).status).toBeLessThan(300);
  expect((await tagCreated('three'))?.metadata.actor).toEqual({ kind: 'anonymous' });

  const log = await readLog();
  const access = log.filter(({ stream }) => stream === 'varve.access').map(({ metadata }) => metadata);
  expect(access).toMatchObject([
    { actor: { kind: 'operator' }, via: 'create-token' },
    { actor: { kind: 'token', name: 'writer' }, via: 'set-public-rights', correlationId: expect.any(String) },
  ]);
  const written = JSON.stringify(log, (_name, value) => (typeof value === 'bigint' ? String(value) : value));
  expect(written).not.toContain(secret);
  expect(written).not.toContain('127.0.0.1"');
});

it('names the author of users, uploads, actions and deletions; the events of one command name its first as cause', async () => {
  const own = ['--data', fleet.members[0]?.data ?? '', '--event-store', fleet.eventStore];
  const created = await runVarve(['token', 'create', '--name', 'all', '--type', 'full-access', ...own]);
  const headers = { authorization: `Bearer ${created.stdout.trim()}`, 'x-request-id': 'mine' };
  const write = async (method: string, path: string, body?: unknown) => {
    const answer = await ask(path, { method, headers, ...(body === undefined ? {} : { body }) });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body;
  };
  await expect.poll(async () => (await ask('/api/tags', { headers })).status).toBe(200);
  const { data } = await write('POST', '/api/restaurants', { data: { key: 'r', name: 'r' } });
  await write('POST', `/api/restaurants/${data.documentId}/actions/unpublish`);
  await write('DELETE', `/api/restaurants/${data.documentId}`);
  await write('POST', '/api/users', {
    username: 'ada',
    email: 'ada@example.org',
    password: 'lovelace',
    role: 1,
  });
  const form = new FormData();
  form.append('files', new Blob(['text'], { type: 'text/plain' }), 'note.txt');
  await write('POST', '/api/upload', form);
  const log = await readLog();
  for (const event of log) expect(validateEvent(event)).toBeUndefined();
  const mine = log.filter(({ metadata }) => metadata.correlationId === 'mine');
  expect(mine.map(({ type, metadata }) => [type, metadata.via])).toEqual([
    ['entry-created', 'create'],
    ['entry-published', 'create'],
    ['entry-unpublished', 'unpublish'],
    ['entry-deleted', 'delete'],
    ['entry-created', 'create-user'],
    ['entry-created', 'create'],
  ]);
  for (const { metadata } of mine) expect(metadata.actor).toMatchObject({ kind: 'token', name: 'all' });
  expect(mine.map(({ metadata }) => metadata.causationId)).toEqual([
    ...[undefined, mine[0]?.id, undefined, undefined, undefined, undefined],
  ]);
});
