import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NewEvent } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { createApiClient } from '../support/api-client.ts';
import { type Member, startFleet, type TestFleet } from '../support/fleet.ts';
import { startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { sampleOf } from '../support/metrics-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { CONFORMANCE_SCHEMA, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Two processes on one log. A process of a newer release and another program also write to it. */
let fleet: TestFleet;
beforeAll(async () => {
  fleet = await startFleet({ size: 2 });
  await fleet.leader();
});
afterAll(() => fleet.dispose());

const call = (member: Member, method: 'GET' | 'POST', path: string, body?: unknown) =>
  createApiClient(member.server().url).call<unknown>(method, path, body);

const keysOf = async (member: Member) =>
  ((await call(member, 'GET', '/api/tags?sort=key&fields=key')).data as { key: string }[]).map(
    ({ key }) => key,
  );

const textOf = async (member: Member, path: string) => (await fetch(member.server().url + path)).text();

async function append(stream: string, event: Omit<NewEvent, 'id'>): Promise<bigint> {
  const log = openSqliteEventStore(fleet.eventStore.slice('sqlite:'.length), { space: 'varve' });
  const result = await log.append(stream, 'any', [{ id: randomUUID(), ...event }]);
  await log.close();
  if (result.kind !== 'appended') throw new Error(`the append is ${result.kind}`);
  return result.position;
}

const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');
const STREAMS = ['varve.note-1', 'varve.lease', 'varve.access', 'varve.identity'];

async function lastPosition(): Promise<bigint> {
  const log = openSqliteEventStore(fleet.eventStore.slice('sqlite:'.length), { space: 'varve' });
  const position = await log.lastPosition();
  await log.close();
  return position;
}

it('events of other programs are skipped, named and counted, also in the streams of the lease and of access', async () => {
  const foreign = { type: 'leader-elected', data: null, metadata: {} as never };
  for (const stream of STREAMS) await append(stream, foreign);
  for (const member of fleet.members) {
    const { status } = await call(member, 'POST', '/api/tags', { data: { key: member.name } });
    expect(status).toBe(201);
    await expect
      .poll(async () => sampleOf(await textOf(member, '/metrics'), 'varve_foreign_events_total'))
      .toBe(STREAMS.length);
    await expect.poll(member.server().output).toContain('"stream":"varve.note-1"');
    const parked = JSON.parse(
      (await runVarve(['parked', 'list', '--json', '--data', member.data, '--event-store', fleet.eventStore]))
        .stdout,
    );
    expect(parked).toMatchObject([
      { stream: 'varve.note-1', revision: '0', type: 'leader-elected' },
      { stream: 'varve.lease', reason: "it has no metadata of Varve's: another program wrote it" },
      { stream: 'varve.access' },
      { stream: 'varve.identity' },
    ]);
  }
});

it('an event of a newer release stops older processes: they serve reads, accept no writes, and do not become leader', async () => {
  const metadata = { schemaVersion: 1, at: new Date().toISOString(), epoch: 1_000 };
  const position = await append('varve.api_tag_tag-x', { type: 'entry-archived', data: {}, metadata });
  const reason = '"entry-archived" is an unknown type of event';
  for (const member of fleet.members) {
    const server = member.server();
    await expect
      .poll(async () => sampleOf(await textOf(member, '/metrics'), 'varve_halted'), { timeout: 50_000 })
      .toBe(1);
    await expect
      .poll(async () => JSON.parse(await textOf(member, '/_varve/leader')))
      .toMatchObject({ epoch: null });
    expect(await keysOf(member)).toEqual(['p1', 'p2']);
    const refused = await call(member, 'POST', '/api/tags', { data: { key: 'refused' } });
    expect(refused).toMatchObject({ status: 503, error: { name: 'ServiceUnavailableError' } });
    expect(JSON.stringify(refused)).toContain(`position ${position}`);
    const token = await call(member, 'POST', '/_varve/tokens', { data: { name: 'x', type: 'read-only' } });
    expect(token.status).toBe(503);
    expect(await textOf(member, '/health/ready')).toContain('entry-archived');
    expect(server.output()).toContain('applying the log has stopped: cannot read the event at position');
    const args = ['--data', member.data, '--event-store', fleet.eventStore];
    const { stdout } = await runVarve(['status', '--json', ...args]);
    expect(JSON.parse(stdout).log).toMatchObject({
      unreadable: { position: String(position), kind: 'unknown-type' },
      foreignEvents: STREAMS.length,
    });
    expect((await runVarve(['status', ...args])).stdout).toContain(reason);
  }
});

it(
  'commands that read the log to its end, or write to it, refuse with a message and write nothing',
  takesMinutes('commands on a log with unreadable events'),
  async () => {
    const [member] = fleet.members;
    if (member === undefined) throw new Error('there is no member');
    const own = ['--data', member.data, '--event-store', fleet.eventStore];
    const file = join(member.data, 'tags.jsonl');
    writeFileSync(file, `${JSON.stringify({ type: 'tag', key: 'x', data: { key: 'x' } })}\n`);
    await member.end('SIGTERM');
    const types = ['--content-types', CONFORMANCE_SCHEMA];
    const sentence = /cannot read the event at position .*entry-archived/;
    const commands = [
      ['export', join(member.data, 'log.jsonl')],
      ['import', file, ...types],
    ];
    for (const command of commands) {
      const before = await lastPosition();
      const { code, stderr } = await runVarve([...command, ...own]);
      expect([code, stderr], command[0]).toEqual([1, expect.stringMatching(sentence)]);
      expect(await lastPosition(), command[0]).toBe(before);
    }
    expect((await runVarve(['status', ...own])).stdout).toContain('Stopped before the event at position');
    expect((await runVarve(['events', ...own])).stdout).toContain('unknown-type: "entry-archived"');
    await member.start();
  },
);

it(
  'a process that starts with such a log serves the content before the event',
  takesMinutes('starts on a log with unreadable events'),
  async () => {
    const [member] = fleet.members;
    if (member === undefined) throw new Error('there is no member');
    await member.end('SIGTERM');
    await member.start();
    expect(await keysOf(member)).toEqual(['p1', 'p2']);
    await expect
      .poll(async () => sampleOf(await textOf(member, '/metrics'), 'varve_halted'), { timeout: 50_000 })
      .toBe(1);
    expect((await call(member, 'POST', '/api/tags', { data: { key: 'refused' } })).status).toBe(503);
    expect(JSON.parse(await textOf(member, '/_varve/leader'))).toMatchObject({ epoch: null });
  },
);

it(
  'a server on KurrentDB skips binary events of another program in streams of its namespace',
  takesMinutes('binary events in KurrentDB'),
  async () => {
    const double = await startKurrentDbDouble({ server: '26.1' });
    const bytes = { type: 'note', contentType: 'application/octet-stream', metadata: Buffer.of() };
    const write = (stream: string) =>
      double.log.write(stream, 'any', [{ ...bytes, id: randomUUID(), data: Buffer.of(0, 0xff) }]);
    write('varve.note-1');
    const server = await startServer({
      arguments: ['--event-store', double.url, '--access-key', ACCESS_KEY],
    });
    try {
      const { call } = createApiClient(server.url);
      write('varve.lease');
      write('varve.note-1');
      expect((await call('POST', '/api/tags', { data: { key: 'a' } })).status).toBe(201);
      write('varve.access');
      expect((await call('POST', '/api/tags', { data: { key: 'b' } })).status).toBe(201);
      expect((await call<unknown[]>('GET', '/api/tags')).data).toHaveLength(2);
      const parked = await runVarve(['parked', 'list', '--data', server.data, '--event-store', double.url]);
      expect(parked.stdout.match(/note .*another program wrote it/g)).toHaveLength(4);
    } finally {
      await server.dispose();
      double.stop();
    }
  },
);
