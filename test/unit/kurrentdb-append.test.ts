import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from 'vitest';
import {
  AppendTooLarge,
  type EventStore,
  type ExpectedRevision,
} from '../../shared/event-store/event-store.ts';
import { collect, ids, newEvent, newEvents, readAll, readStream } from '../contract/event-store-fixtures.ts';
import { createDoubleLog } from '../support/kurrentdb/double-log.ts';
import { forwardTimeoutError } from '../support/kurrentdb/double-messages.ts';
import { gate, type KurrentDbWorld, startWorld, streamOf, type WorldOptions } from './kurrentdb-world.ts';

let world: KurrentDbWorld;
const startWith = async (options?: WorldOptions) => {
  world = await startWorld(options);
  return world;
};
const start = startWith;
const startFor = (call: (typeof CALLS)[number], options: WorldOptions = {}) =>
  startWith({ server: call === 'batchAppend' ? '24.2' : '26.1', ...options });
afterEach(() => world.end());

/** Calls of the two versions. */
const CALLS = ['batchAppend', 'appendRecords'] as const;

const UNAVAILABLE = { kind: 'fail', code: status.UNAVAILABLE, message: 'Server Is Not Ready' } as const;

/** Creates a stream of two events. */
const streamOfTwo = async (store: EventStore): Promise<string> => {
  const stream = streamOf();
  await store.append(stream, 'none', newEvents(2));
  return stream;
};

describe.each(CALLS)('an append whose %s call fails is made again', (call) => {
  const start = (options?: WorldOptions) => startFor(call, options);
  const met: ExpectedRevision[] = ['any', 1n];

  test.each(met)('before it is written, expecting %s', async (expected) => {
    const { store, double, troubles } = await start();
    const stream = await streamOfTwo(store);
    double.faults.next(call, UNAVAILABLE, UNAVAILABLE);
    const events = newEvents(2);
    expect(await store.append(stream, expected, events)).toMatchObject({ kind: 'appended', revision: 3n });
    expect(ids(await readStream(store, stream)).slice(2)).toEqual(ids(events));
    expect(troubles.map(({ operation, attempt }) => [operation, attempt])).toEqual([
      [`append to ${stream}`, 1],
      [`append to ${stream}`, 2],
    ]);
    expect(double.faults.left()).toBe(0);
  });

  test.each(met)('after it was written, and is stored once, expecting %s', async (expected) => {
    const { store, double } = await start({ log: createDoubleLog({ rememberedIds: 0 }) });
    const stream = await streamOfTwo(store);
    double.faults.next(call, { kind: 'lose-answer' });
    const events = newEvents(2);
    const result = await store.append(stream, expected, events);
    const stored = await readStream(store, stream);
    expect(ids(stored).slice(2)).toEqual(ids(events));
    expect(result).toEqual({ kind: 'appended', revision: 3n, position: stored[3]?.position });
    expect(double.faults.left()).toBe(0);
  });

  test('after it was written as the first of its stream', async () => {
    const { store, double } = await start({ log: createDoubleLog({ rememberedIds: 0 }) });
    const stream = streamOf();
    double.faults.next(call, { kind: 'lose-answer' });
    const events = newEvents(3);
    const result = await store.append(stream, 'none', events);
    const stored = await readStream(store, stream);
    expect(ids(stored)).toEqual(ids(events));
    expect(result).toEqual({ kind: 'appended', revision: 2n, position: stored[2]?.position });
  });

  test('when there is no answer within the deadline; a late append is stored once', async () => {
    const { store, double, troubles } = await start({ store: { deadlineMs: 1_000 } });
    const stream = await streamOfTwo(store);
    const late = gate();
    double.faults.next(call, { kind: 'hold', until: late.passed });
    const events = newEvents(1);
    expect(await store.append(stream, 1n, events)).toMatchObject({ kind: 'appended', revision: 2n });
    expect(troubles).toHaveLength(1);
    late.open();
    expect(await store.append(stream, 2n, newEvents(1))).toMatchObject({ kind: 'appended', revision: 3n });
    expect(ids(await readStream(store, stream))).toHaveLength(4);
  });

  test('when the node is not the leader, and its refusal lacks the address of the leader', async () => {
    const { store, double, troubles } = await start();
    const stream = await streamOfTwo(store);
    const trailers = { exception: 'not-leader' };
    double.faults.next(call, { kind: 'fail', code: status.NOT_FOUND, message: 'gone', trailers });
    expect(await store.append(stream, 1n, newEvents(1))).toMatchObject({ kind: 'appended', revision: 2n });
    expect(troubles.map(({ error }) => error.message)).toEqual([
      '5 NOT_FOUND: gone (code 5, exception not-leader)',
    ]);
  });

  test('when the leader hears from no majority in time (ABORTED), whether it was written or not', async () => {
    const { store, double } = await start();
    const stream = await streamOfTwo(store);
    const { code, details: message } = forwardTimeoutError();
    double.faults.next(call, { kind: 'fail', code, message });
    const events = newEvents(1);
    expect(await store.append(stream, 1n, events)).toMatchObject({ kind: 'appended', revision: 2n });
    expect(ids(await readStream(store, stream))).toHaveLength(3);
  });

  test('more at once than a connection has streams', async () => {
    // The number of calls must not depend on the speed of the machine.
    const { store, double } = await start({ store: { deadlineMs: 60_000, giveUpAfterMs: 60_000 } });
    const streams = Array.from({ length: 250 }, () => streamOf());
    const subscriber = collect(store);
    const results = await Promise.all(streams.map((stream) => store.append(stream, 'none', newEvents(1))));
    expect(results.every(({ kind }) => kind === 'appended')).toBe(true);
    await subscriber.until(250);
    const { batchAppend, appendRecords } = double.calls;
    if (call === 'batchAppend') expect(batchAppend).toBe(250);
    else expect(appendRecords).toBeLessThan(250);
  });

  test('when every connection is cut and comes back', async () => {
    const { store, double, troubles } = await start();
    const stream = await streamOfTwo(store);
    double.interrupt();
    const appending = store.append(stream, 1n, newEvents(1));
    while (troubles.length === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    await double.resume();
    expect(await appending).toMatchObject({ kind: 'appended', revision: 2n });
  });

  test('by the leader, when the contacted node is no longer the leader', async () => {
    const { store, double, addNode } = await start();
    const stream = await streamOfTwo(store);
    const leader = await addNode();
    double.follow(leader);
    const events = newEvents(2);
    expect(await store.append(stream, 1n, events)).toMatchObject({ kind: 'appended', revision: 3n });
    // A node that is not the leader passes a batch on to it.
    expect(leader.calls[call]).toBe(call === 'appendRecords' ? 1 : 0);
    expect(ids(await readStream(store, stream)).slice(2)).toEqual(ids(events));
    expect(leader.calls.read).toBeGreaterThan(0);
  });
});

describe('an append that cannot succeed rejects', () => {
  test('with its name and the reason once the time for retries is over', async () => {
    const { store, double, troubles } = await start({ store: { giveUpAfterMs: 1_500 } });
    const stream = streamOf();
    double.faults.next('batchAppend', ...Array.from({ length: 50 }, () => UNAVAILABLE));
    await expect(store.append(stream, 'none', newEvents(1))).rejects.toThrow(
      new RegExp(`append to ${stream} failed: .*Server Is Not Ready`),
    );
    expect(troubles.length).toBeGreaterThanOrEqual(2);
  });

  test('at once when the server accepts no append of this size', async () => {
    const { store, double, troubles } = await start({ maxAppendSize: 1_000 });
    const stream = streamOf();
    const tooLarge = newEvent({ text: 'x'.repeat(1_000) });
    await expect(store.append(stream, 'none', [tooLarge])).rejects.toThrow(
      /accepts at most 1000 bytes in one append/,
    );
    expect(troubles).toEqual([]);
    expect(double.calls).toMatchObject({ batchAppend: 1 });
    expect(await store.append(stream, 'none', newEvents(1))).toMatchObject({ revision: 0n });
  });

  test('at once when one of its events is larger than a message may be', async () => {
    const { store, troubles } = await start();
    const tooLarge = newEvent({ text: 'x'.repeat(16_800_000) });
    await expect(store.append(streamOf(), 'none', [tooLarge])).rejects.toThrow(AppendTooLarge);
    expect(troubles).toEqual([]);
  });

  test('at once on a stream that was deleted on the server, as its reads do', async () => {
    const { store, double } = await start();
    const stream = await streamOfTwo(store);
    double.log.tombstone(stream);
    await expect(store.append(stream, 1n, newEvents(1))).rejects.toThrow(/was deleted for good/);
    await expect(readStream(store, stream)).rejects.toThrow(/was deleted for good/);
  });

  test('when its stream is outside of the namespace', async () => {
    const { store, double } = await start();
    await expect(store.append('varvel.thing-1', 'any', newEvents(1))).rejects.toThrow(
      /not in the namespace varve/,
    );
    expect(double.calls).toMatchObject({ batchAppend: 0, append: 0 });
  });
});

describe.each(CALLS)('a repeated append is recognised, written with %s', (call) => {
  const start = (options?: WorldOptions) => startFor(call, options);

  test('by a process that never saw the stream, on a server that remembers no id, with any expected revision', async () => {
    const { store, open } = await start({ log: createDoubleLog({ rememberedIds: 0 }) });
    const stream = await streamOfTwo(store);
    const events = newEvents(200);
    const first = await store.append(stream, 1n, events);
    await store.append(stream, 201n, newEvents(100));
    for (const expected of ['any', 'none', 0n, 1n, 150n, 301n, 9_999n] as const) {
      expect(await open().append(stream, expected, events)).toEqual(first);
    }
    expect(await readStream(store, stream)).toHaveLength(302);
  });

  test('at the revision that it expects, and partly, if its stream has more later events than are searched', async () => {
    const { store, double, open } = await start({ log: createDoubleLog({ rememberedIds: 0 }) });
    const stream = streamOf();
    const [oldest, edge] = [newEvents(3), newEvents(100)];
    const first = await store.append(stream, 'none', oldest);
    const second = await store.append(stream, 2n, edge);
    await store.append(stream, 102n, newEvents(460));
    const before = double.calls.read;
    expect(await open().append(stream, 'none', oldest)).toEqual(first);
    expect(double.calls.read - before).toBeLessThan(8);
    for (const expected of ['any', 2n, 562n] as const)
      expect(await open().append(stream, expected, edge)).toEqual(second);
    expect(await open().append(stream, 'none', newEvents(1))).toEqual({ kind: 'conflict', actual: 562n });
    expect(await readStream(store, stream)).toHaveLength(563);
  });

  test('although another process wrote it after this one had read the stream', async () => {
    const { store, open } = await start({ log: createDoubleLog({ rememberedIds: 0 }) });
    const stream = await streamOfTwo(store);
    const events = newEvents(2);
    const first = await open().append(stream, 1n, events);
    expect(await store.append(stream, 'any', events)).toEqual(first);
    await open().append(stream, 3n, newEvents(1));
    expect(await store.append(stream, 4n, events)).toEqual(first);
    expect(await readStream(store, stream)).toHaveLength(5);
  });
});

test('an append to a known stream costs one message', async () => {
  const { store, double, open } = await start();
  const stream = await streamOfTwo(store);
  await store.append(stream, 1n, newEvents(1));
  await store.append(stream, 'any', newEvents(1));
  expect(double.calls).toMatchObject({ batchAppend: 3, append: 0, read: 0 });
  const other = open();
  await other.append(stream, 3n, newEvents(1));
  await other.append(stream, 4n, newEvents(1));
  expect(double.calls).toMatchObject({ batchAppend: 5, read: 1, append: 0 });
});

test('actor, correlation, causation, schema version and epoch are in the custom metadata under their names', async () => {
  const { store, double } = await start();
  const stream = streamOf();
  const metadata = {
    schemaVersion: 3,
    at: '2026-03-04T05:06:07.089Z',
    epoch: 12,
    actor: { kind: 'token' as const, id: '7', name: 'writer' },
    correlationId: 'c-1',
    causationId: 'c-0',
  };
  await store.append(stream, 'none', [{ ...newEvent({ a: 1 }), metadata }]);
  const record = double.log.read(stream)?.[0];
  expect(record?.contentType).toBe('application/json');
  expect(JSON.parse(Buffer.from(record?.data ?? []).toString())).toEqual({ a: 1 });
  expect(JSON.parse(Buffer.from(record?.metadata ?? []).toString())).toEqual({
    schemaVersion: 3,
    at: '2026-03-04T05:06:07.089Z',
    epoch: 12,
    actor: { kind: 'token', id: '7', name: 'writer' },
    $correlationId: 'c-1',
    $causationId: 'c-0',
    digest: expect.any(String),
  });
  expect((await readAll(store))[0]?.metadata).toMatchObject(metadata);
});
