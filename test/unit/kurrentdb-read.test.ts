import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from 'vitest';
import { metadataAsStrings } from '../../shared/event-store/event-metadata.ts';
import type { Recorded } from '../../shared/event-store/kurrentdb/kurrentdb-event.ts';
import { createPageSize } from '../../shared/event-store/kurrentdb/kurrentdb-pages.ts';
import { collect, ids, newEvents, positions, readAll, readStream } from '../contract/event-store-fixtures.ts';
import {
  gate,
  type KurrentDbWorld,
  lastOf,
  startWorld,
  streamOf,
  type WorldOptions,
  withNewId,
} from './kurrentdb-world.ts';

let world: KurrentDbWorld;
const start = async (options?: WorldOptions) => {
  world = await startWorld(options);
  return world;
};
afterEach(() => world.end());

test('a read that is dropped half-way gives each event once', async () => {
  const { store, double, troubles } = await start();
  const stream = streamOf();
  await store.append(stream, 'none', newEvents(300));
  const drop = { kind: 'drop', afterEvents: 7 } as const;
  double.faults.next('subscribe', drop, drop);
  const all = await readAll(store);
  expect(all).toHaveLength(300);
  double.faults.next('read', drop);
  expect(await readStream(store, stream)).toEqual(all);
  expect(troubles).toHaveLength(3);
});

test('a read is made again when the server is not ready, busy, gone or silent', async () => {
  const { store, double } = await start({ store: { deadlineMs: 300 } });
  const stream = streamOf();
  await store.append(stream, 'none', newEvents(5));
  const never = gate();
  const { UNAVAILABLE, DEADLINE_EXCEEDED, ABORTED, UNKNOWN } = status;
  for (const code of [UNAVAILABLE, DEADLINE_EXCEEDED, ABORTED, UNKNOWN]) {
    double.faults.next('read', { kind: 'fail', code, message: 'not now' });
    expect(await readStream(store, stream)).toHaveLength(5);
  }
  double.faults.next('read', { kind: 'hold', until: never.passed });
  expect(await store.lastPosition()).toBe(lastOf(await readAll(store)).position);
  double.interrupt();
  const reading = readAll(store);
  await double.resume();
  expect(await reading).toHaveLength(5);
  expect(double.faults.left()).toBe(0);
  never.open();
});

test('a read that cannot succeed rejects with its name', async () => {
  const { store, double, troubles } = await start({ store: { giveUpAfterMs: 1_000 } });
  const stream = streamOf();
  double.faults.next('read', { kind: 'fail', code: status.INVALID_ARGUMENT, message: 'no such thing' });
  await expect(readStream(store, stream)).rejects.toThrow(new RegExp(`read of ${stream} failed: .*no such`));
  expect(troubles).toEqual([]);
  double.interrupt();
  await expect(store.lastPosition()).rejects.toThrow(/read of the log failed: no server listens at/);
  expect(troubles.length).toBeGreaterThan(0);
  await double.resume();
  expect(await readAll(store, await store.lastPosition())).toEqual([]);
});

test('the log contains only its namespace: no system event, no tombstone', async () => {
  const { store, double, open } = await start();
  const other = open({ space: 'varvel' });
  const written: string[] = [];
  for (let n = 0; n < 40; n += 1) {
    const events = newEvents(2);
    await store.append(streamOf(), 'none', events);
    await other.append(streamOf('varvel'), 'none', newEvents(1));
    written.push(...ids(events));
  }
  const last = lastOf(await readAll(store));
  for (let n = 0; n < 9; n += 1) double.log.tombstone(streamOf());
  expect([...double.log.records].some(({ stream }) => stream.startsWith('$stats'))).toBe(true);
  expect(ids(await readAll(store))).toEqual(written);
  expect(ids(await readAll(store, 0n, 3))).toEqual(written);
  expect(await store.lastPosition()).toBeGreaterThan(last.position);
  expect(await readAll(other)).toHaveLength(40);
});

test('positions are those of the transaction log: sparse, and the same in streams and the log', async () => {
  const { store, double } = await start();
  const stream = streamOf();
  await store.append(stream, 'none', newEvents(3));
  const log = await readAll(store);
  expect(await readStream(store, stream)).toEqual(log);
  expect(positions(log)).toEqual(double.log.read(stream)?.map(({ position }) => position));
  expect(positions(log).every((position, n, all) => position - (all[n - 1] ?? 0n) > 1n)).toBe(true);
});

test('a position between records is accepted, although the server refuses to read from it', async () => {
  const { store, double } = await start();
  await store.append(streamOf(), 'none', newEvents(3));
  const all = await readAll(store);
  expect(await readAll(store, lastOf(all).position - 1n)).toEqual([lastOf(all)]);
  const foreign = withNewId(double.log.records.at(-1));
  double.log.write('elsewhere.thing', 'any', [foreign, withNewId(foreign)]);
  expect(await readAll(store, lastOf(all).position + 1n)).toEqual([]);
});

test('a revision that no event can have is refused by its name', async () => {
  const { store, double } = await start();
  await store.append('varve.note-1', 'none', newEvents(1));
  Object.assign(double.log.records.at(double.log.records.length - 1) ?? {}, { revision: 2n ** 64n - 1n });
  const refusal = /returns 18446744073709551615 as the revision of an event of varve\.note-1/;
  await expect(readStream(store, 'varve.note-1')).rejects.toThrow(refusal);
  await expect(readAll(store)).rejects.toThrow(refusal);
});

test('pages grow to the requested size, and shrink if events are large', () => {
  const pageOf = (count: number, bytes: number) =>
    Array.from({ length: count }, () => ({ data: Buffer.alloc(bytes) }) as unknown as Recorded);
  const size = createPageSize(512);
  const counts = [100, 100, 100, 100, 1_000_000, 20_000_000, 100].map((bytes) => {
    const count = size.count();
    size.learn(pageOf(Math.min(count, 8), bytes));
    return count;
  });
  expect(counts).toEqual([64, 128, 256, 512, 512, 8, 1]);
  expect(createPageSize(3).count()).toBe(3);
});

describe('an event of another program in a stream of the space', () => {
  const others = [
    { type: 't', contentType: 'application/octet-stream', data: Buffer.of(1, 0xff), metadata: Buffer.of() },
    { type: 't', contentType: 'application/json', data: Buffer.from('{"a":1}'), metadata: Buffer.of() },
    {
      type: 'leader-elected',
      contentType: 'application/json',
      data: Buffer.from('{'),
      metadata: Buffer.from('{}'),
    },
    { type: 't', contentType: 'application/json', data: Buffer.from('{}'), metadata: Buffer.of(0xff) },
    {
      type: 't',
      contentType: 'application/json',
      data: Buffer.alloc(500_000, '1'),
      metadata: Buffer.from('7'),
    },
  ];
  test.each(others)('is delivered as foreign, to readers and subscribers: %#', async (event) => {
    const { store, double } = await start();
    double.log.write('varve.note-1', 'any', [{ ...event, id: crypto.randomUUID() }]);
    const live = collect(store, 0n);
    await live.until(1);
    const foreign = [{ stream: 'varve.note-1', type: event.type, unreadable: { kind: 'foreign' } }];
    expect(await readStream(store, 'varve.note-1')).toMatchObject(foreign);
    expect(await readAll(store)).toMatchObject(foreign);
    expect(live.events).toMatchObject(foreign);
    await live.subscription.close();
  });

  test('in the all-strings form is one of Varve’s', async () => {
    const { store, double } = await start();
    const metadata = { schemaVersion: 2, at: '2026-03-04T05:06:07.089Z', epoch: 3, correlationId: 'c-1' };
    const properties = { ...metadataAsStrings(metadata), '$schema.name': 'entry-deleted' };
    const bytes = { data: Buffer.from('{"a":1}'), metadata: Buffer.from(JSON.stringify(properties)) };
    const json = { type: 'entry-deleted', contentType: 'application/json', ...bytes };
    double.log.write('varve.note-1', 'any', [{ ...json, id: crypto.randomUUID() }]);
    expect(await readAll(store)).toMatchObject([{ data: { a: 1 }, metadata }]);
  });
});
