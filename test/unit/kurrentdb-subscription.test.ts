import { status } from '@grpc/grpc-js';
import { afterEach, expect, test, vi } from 'vitest';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { collect, ids, newEvent, newEvents, readAll, readStream } from '../contract/event-store-fixtures.ts';
import {
  gate,
  type KurrentDbWorld,
  startWorld,
  streamOf,
  type WorldOptions,
  withNewId,
} from './kurrentdb-world.ts';

const WAIT = { timeout: 60_000, interval: 5 };

let world: KurrentDbWorld;
const start = async (options?: WorldOptions) => {
  world = await startWorld(options);
  return world;
};
afterEach(() => world.end());

/** Expects that every later subscription began at the last position that was handled before. */
const expectStartsWhereHandled = ({ double }: KurrentDbWorld, searched: readonly bigint[]) => {
  const handled = new Set<bigint | undefined>([undefined, ...searched]);
  expect(double.observed.starts.filter((position) => !handled.has(position))).toEqual([]);
};

test('continues after the last handled event each time the call is dropped', async () => {
  const { store, double, troubles } = await start();
  await store.append(streamOf(), 'none', newEvents(100));
  const drops = [10, 0, 35, 1].map((afterEvents) => ({ kind: 'drop', afterEvents }) as const);
  double.faults.next('subscribe', ...drops, {
    kind: 'fail',
    code: status.UNAVAILABLE,
    message: 'Server Is Not Ready',
  });
  const subscriber = collect(store, 0n, 8);
  await subscriber.until(100);
  await store.append(streamOf(), 'none', newEvents(3));
  await subscriber.until(103);
  expect(troubles.map(({ operation }) => operation)).toEqual(Array(5).fill('subscription'));
  expect(double.calls.subscribe).toBe(6);
  expect(ids(subscriber.events)).toEqual(ids(await readAll(store)));
  expectStartsWhereHandled(world, subscriber.searched);
});

test('continues after every connection was cut, with the events that others wrote meanwhile', async () => {
  const { store, double, open, addNode } = await start();
  await store.append(streamOf(), 'none', newEvents(5));
  const subscriber = collect(store);
  await subscriber.until(5);
  const node = await addNode();
  double.interrupt();
  const other = open();
  node.log.write(streamOf(), 'any', [withNewId(double.log.records.at(-1))]);
  await double.resume();
  await other.append(streamOf(), 'none', newEvents(2));
  await subscriber.until(8);
  expect(subscriber.events).toEqual(await readAll(store));
});

test('a busy handler makes the server wait: the subscription is not dropped and misses nothing', async () => {
  const { store, double } = await start();
  const busy = gate();
  const events: StoredEvent[] = [];
  const subscription = store.subscribe(0n, async (batch) => {
    if (events.length === 0) await busy.passed;
    events.push(...batch);
  });
  const text = 'x'.repeat(2_000);
  for (let n = 0; n < 60; n += 1) {
    await store.append(
      streamOf(),
      'none',
      Array.from({ length: 50 }, () => newEvent({ text })),
    );
  }
  expect(double.observed.eventsSent).toBeLessThan(2_000);
  busy.open();
  while (events.length < 3_000) await Promise.race([turn(), subscription.done]);
  expect(double.calls.subscribe).toBe(1);
  expect(ids(events)).toEqual(ids(await readAll(store)));
});

test('after the server drops a slow consumer, the subscription continues from the last handled event', async () => {
  const { store, double, troubles } = await start({ dropSlowAfter: 500 });
  const busy = gate();
  const events: StoredEvent[] = [];
  const searched: bigint[] = [];
  const subscription = store.subscribe(
    0n,
    async (batch, upTo) => {
      if (events.length === 0) await busy.passed;
      events.push(...batch);
      searched.push(upTo);
    },
    { batchSize: 16 },
  );
  const text = 'x'.repeat(2_000);
  for (let n = 0; n < 60; n += 1) {
    await store.append(
      streamOf(),
      'none',
      Array.from({ length: 50 }, () => newEvent({ text })),
    );
  }
  busy.open();
  while (events.length < 3_000) await Promise.race([turn(), subscription.done]);
  expect(troubles.map(({ error }) => error.message)).toContainEqual(expect.stringContaining('too slow'));
  expect(double.calls.subscribe).toBeGreaterThan(1);
  expect(ids(events)).toEqual(ids(await readAll(store)));
  expectStartsWhereHandled(world, searched);
});

test("never delivers a system event, a tombstone or another namespace's event, and continues from its searched position", async () => {
  const { store, double, open } = await start();
  const other = open({ space: 'elsewhere' });
  await store.append(streamOf(), 'none', newEvents(2));
  const subscriber = collect(store);
  await subscriber.until(2);
  // The server's checkpoints are far ahead of the two events.
  for (let n = 0; n < 100; n += 1) await other.append(streamOf('elsewhere'), 'none', newEvents(2));
  double.interrupt();
  await double.resume();
  double.log.tombstone(streamOf());
  await store.append(streamOf(), 'none', newEvents(1));
  await subscriber.until(3);
  expect(subscriber.events).toEqual(await readAll(store));
  expect(subscriber.events).toHaveLength(3);
  expectStartsWhereHandled(world, subscriber.searched);
});

test('a checkpoint that is the position of the next event hides no event', async () => {
  const { store } = await start({ checkpointsAhead: true });
  await store.append(streamOf(), 'none', newEvents(3));
  const subscriber = collect(store);
  await subscriber.until(3);
  await store.append(streamOf(), 'none', newEvents(2));
  await subscriber.until(5);
  expect(ids(await readAll(store))).toEqual(ids(subscriber.events));
});

test('gets only the events of its stream from the server, and reaches the end of the log', async () => {
  const { store, double } = await start();
  const stream = streamOf();
  const delivered: StoredEvent[] = [];
  const end = Promise.withResolvers<void>();
  let wanted = 2n ** 63n;
  const handle = async (events: readonly StoredEvent[], upTo: bigint) => {
    delivered.push(...events);
    if (upTo >= wanted) end.resolve();
  };
  const subscription = store.subscribe(0n, handle, { stream });
  await store.append(stream, 'none', newEvents(2));
  await store.append(`${stream}-longer`, 'none', newEvents(1));
  for (let n = 0; n < 50; n += 1) await store.append(streamOf(), 'none', newEvents(2));
  await store.append(stream, 1n, newEvents(1));
  await store.append(streamOf(), 'none', newEvents(1));
  wanted = await store.lastPosition();
  await Promise.race([end.promise, subscription.done]);
  expect(delivered).toEqual(await readStream(store, stream));
  expect(delivered).toHaveLength(3);
  // A filter of the server is a prefix.
  expect(double.observed.eventsSent).toBe(4);
});

test('a subscription to one stream follows one to all streams without a search of its own', async () => {
  const { store, double } = await start();
  const stream = streamOf();
  await store.append(stream, 'none', newEvents(1));
  const all = collect(store);
  const own: StoredEvent[] = [];
  let searched = 0n;
  const handle = async (events: readonly StoredEvent[], upTo: bigint) => {
    own.push(...events);
    searched = upTo;
  };
  const { done } = store.subscribe(0n, handle, { stream });
  await Promise.all([all.until(1), vi.waitUntil(() => own.length === 1, WAIT)]);
  const { passed, open: release } = gate();
  double.faults.next('read', { kind: 'hold', until: passed });
  await vi.waitUntil(() => double.faults.left() === 0, WAIT);
  const reads = double.calls.read;
  for (let n = 0; n < 3; n += 1) {
    const result = await store.append(streamOf(), 'none', newEvents(2));
    const position = result.kind === 'appended' ? result.position : 2n ** 63n;
    await Promise.race([vi.waitUntil(() => searched >= position, WAIT), done]);
  }
  expect(double.calls.read).toBe(reads);
  release();
});

test('stops when the server refuses it: done rejects', async () => {
  const { store, double } = await start();
  double.faults.next('subscribe', { kind: 'fail', code: status.PERMISSION_DENIED, message: 'no' });
  await expect(collect(store).subscription.done).rejects.toThrow(/no/);
  expect(double.calls.subscribe).toBe(1);
});

test('closes while it waits before it connects again', async () => {
  const { store, double, troubles } = await start();
  const subscriber = collect(store);
  await store.append(streamOf(), 'none', newEvents(1));
  await subscriber.until(1);
  double.interrupt();
  while (troubles.length < 3) await turn();
  await subscriber.subscription.close();
  await subscriber.subscription.done;
  expect(subscriber.events).toHaveLength(1);
});

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
