import { randomUUID } from 'node:crypto';
import { status } from '@grpc/grpc-js';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import {
  type AppendCondition,
  AppendTooLarge,
  type EventStore,
  type NewEvent,
} from '../../shared/event-store/event-store.ts';
import { openKurrentDbEventStore } from '../../shared/event-store/kurrentdb/kurrentdb-event-store.ts';
import { newEvent, newEvents, readAll, readStream } from '../contract/event-store-fixtures.ts';
import { startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { type KurrentDbWorld, startWorld, streamOf } from './kurrentdb-world.ts';

/** Appends with a condition on a double of KurrentDB 26.1. */
let world: KurrentDbWorld;
afterEach(() => world.end());

const start = async () => {
  world = await startWorld({ server: '26.1' });
  const lease = streamOf();
  await world.store.append(lease, 'none', newEvents(1));
  return { ...world, held: { stream: lease, revision: 0n } };
};

const claim = (store: EventStore, { stream, revision }: AppendCondition) =>
  store.append(stream, revision, newEvents(1));

test('an event that an older server stored is read in the same way', async () => {
  const { store, double, held } = await start();
  const older = await startKurrentDbDouble({ log: double.log });
  onTestFinished(() => older.stop());
  const typedStore = openKurrentDbEventStore(older.url, { space: 'varve' });
  onTestFinished(() => typedStore.close());
  const event = (): NewEvent => ({
    id: randomUUID(),
    type: 'entry-changed',
    data: { text: 'Grüße', list: [1, null, { a: true }] },
    metadata: {
      ...{ schemaVersion: 1, at: '2026-03-04T05:06:07.089Z', epoch: 12 },
      actor: { kind: 'token', id: 'a1', name: '42' },
      ...{ via: 'update', correlationId: 'request-1', traceId: '0af7651916cd43dd8448eb211c80319c' },
      causationId: randomUUID(),
      command: { id: '7', request: 'true' },
    },
  });
  const [typed, strings] = [event(), event()];
  const stream = streamOf();
  await typedStore.append(stream, 'none', [typed]);
  const appended = await store.append(stream, 0n, [strings], held);
  expect(older.calls).toMatchObject({ batchAppend: 1 });
  const stored = await readStream(store, stream);
  const digest = expect.stringMatching(/^[\w-]{43}$/);
  expect(
    stored.map(({ type, data, metadata, unreadable }) => ({ type, data, metadata, unreadable })),
  ).toEqual(
    [typed, strings].map(({ type, data, metadata }) => ({ type, data, metadata: { ...metadata, digest } })),
  );
  const [first, second] = stored.map(({ metadata }) =>
    JSON.stringify({ ...metadata, causationId: '', digest: '' }),
  );
  expect(first).toBe(second);
  expect(appended).toEqual({ kind: 'appended', revision: 1n, position: stored[1]?.position });
});

test('an append whose answer was lost is stored once, also if the lease was lost meanwhile', async () => {
  const { store, double, held } = await start();
  for (const isClaimed of [false, true]) {
    const stream = streamOf();
    const events = newEvents(2);
    double.faults.next('appendRecords', { kind: 'lose-answer' });
    const append = store.append(stream, 'none', events, held);
    if (isClaimed) {
      while (double.log.read(stream) === undefined) await new Promise((resolve) => setImmediate(resolve));
      await claim(store, held);
    }
    const result = await append;
    const stored = await readStream(store, stream);
    expect(result).toEqual({ kind: 'appended', revision: 1n, position: stored[1]?.position });
    expect(stored).toHaveLength(2);
  }
  expect(double.faults.left()).toBe(0);
});

test('appends that are stored together are found after their answer and the lease were lost', async () => {
  const { store, double, held } = await start();
  const appends = [streamOf(), streamOf()].map((stream) => ({
    stream,
    expected: 'none' as const,
    events: newEvents(2),
  }));
  // The claim is stored before the call is made again.
  double.log.growth.once('written', () => {
    const claimed = { id: randomUUID(), type: 'claimed', contentType: 'application/json' };
    double.log.write(held.stream, held.revision, [
      { ...claimed, data: Buffer.from('{}'), metadata: Buffer.from('{}') },
    ]);
  });
  double.faults.next('appendRecords', { kind: 'lose-answer' });
  const result = await store.appendTogether(appends, held);
  const stored = await readAll(store);
  expect(stored).toHaveLength(6);
  expect(result).toEqual({ kind: 'appended', position: stored.at(-1)?.position });
  const other = { stream: streamOf(), expected: 'none' as const, events: newEvents(1) };
  expect(await store.appendTogether([other], held)).toEqual({ kind: 'fenced' });
});

test('an append that was delayed is fenced by a claim that overtook it', async () => {
  const { store, double, held, open } = await start();
  const { promise, resolve } = Promise.withResolvers<void>();
  double.faults.next('appendRecords', { kind: 'hold', until: promise });
  const stream = streamOf();
  const append = store.append(stream, 'none', newEvents(2), held);
  await claim(open(), held);
  resolve();
  expect(await append).toEqual({ kind: 'fenced' });
  expect(await readAll(store)).toHaveLength(2);
});

test('an append that expects any revision finds the revision, and stops when it is fenced', async () => {
  const { store, open, held } = await start();
  const stream = streamOf();
  await store.append(stream, 'any', newEvents(2), held);
  // Another process appends, so this one has to read the revision again.
  await open().append(stream, 'any', [newEvent()]);
  expect(await store.append(stream, 'any', [newEvent()], held)).toMatchObject({ revision: 3n });
  await claim(store, held);
  expect(await store.append(stream, 'any', [newEvent()], held)).toEqual({ kind: 'fenced' });
  expect(await readStream(store, stream)).toHaveLength(4);
});

test('an append is tried again when the server is not ready', async () => {
  const { store, double, held, troubles } = await start();
  const fault = { kind: 'fail', code: status.UNAVAILABLE, message: 'Server Is Not Ready' } as const;
  double.faults.next('appendRecords', fault, fault);
  const stream = streamOf();
  expect(await store.append(stream, 'none', newEvents(1), held)).toMatchObject({ kind: 'appended' });
  expect(troubles).toHaveLength(2);
});

test('the store asks again whether the server checks conditions, if it did not answer', async () => {
  world = await startWorld({ server: '26.1' });
  const fault = { kind: 'fail', code: status.UNAVAILABLE, message: 'Server Is Not Ready' } as const;
  world.double.faults.next('features', fault);
  expect(await world.store.checksConditions()).toBe(true);
});

test('a follower names the leader in the details of its refusal, and the append moves there', async () => {
  const { store, double, addNode, held } = await start();
  const leader = await addNode();
  double.follow(leader);
  const stream = streamOf();
  expect(await store.append(stream, 'none', newEvents(1), held)).toMatchObject({ kind: 'appended' });
  expect(leader.calls.appendRecords).toBe(1);
  expect(await store.append(stream, 0n, newEvents(1), held)).toMatchObject({ kind: 'appended' });
});

test('a record above the limit of the server is refused at once', async () => {
  const { store, double, troubles, held } = await start();
  const [event] = newEvents(1);
  const large = [{ ...event, data: { text: 'x'.repeat(17_000_000) } }] as NewEvent[];
  await expect(store.append(streamOf(), 'none', large, held)).rejects.toBeInstanceOf(AppendTooLarge);
  // The lease and this one.
  expect(double.calls.appendRecords).toBe(2);
  expect(troubles).toEqual([]);
});
