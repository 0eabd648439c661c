import { status } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { ids, newEvent, newEvents, readStream } from '../contract/event-store-fixtures.ts';
import { createDoubleLog } from '../support/kurrentdb/double-log.ts';
import { gate, type KurrentDbWorld, startWorld, streamOf } from './kurrentdb-world.ts';

/** Appends to KurrentDB 26.1 that are made during a call share the next call. */
let world: KurrentDbWorld;
afterEach(() => world.end());

/** Starts a world whose first call ends with `release`. */
const start = async () => {
  world = await startWorld({ server: '26.1', log: createDoubleLog({ rememberedIds: 0 }) });
  const { store, double } = world;
  const lease = streamOf();
  await store.append(lease, 'none', newEvents(1));
  const held = gate();
  double.faults.next('appendRecords', { kind: 'hold', until: held.passed });
  const first = store.append(streamOf(), 'none', newEvents(1));
  while (double.calls.appendRecords < 2) await new Promise<void>((resolve) => setImmediate(resolve));
  const release = async () => {
    held.open();
    await first;
  };
  const calls = () => double.calls.appendRecords - 2;
  return { ...world, condition: { stream: lease, revision: 0n }, release, calls };
};

const appendTo = (streams: readonly string[], count = 1) =>
  streams.map((stream) => world.store.append(stream, 'none', newEvents(count)));
const streamsOf = (count: number) => Array.from({ length: count }, () => streamOf());

test('go out together, and each gets its revision and a position that includes it', async () => {
  const { store, release, calls } = await start();
  const streams = streamsOf(100);
  const appends = appendTo(streams, 2);
  await release();
  const results = await Promise.all(appends);
  expect(calls()).toBe(1);
  for (const [n, stream] of streams.entries()) {
    const stored = await readStream(store, stream);
    const result = results[n];
    expect(result).toMatchObject({ kind: 'appended', revision: 1n });
    expect(result?.kind === 'appended' && result.position >= (stored[1]?.position ?? 0n)).toBe(true);
  }
});

test('a group has at most 512 records and 1 MiB', async () => {
  const { store, release, calls } = await start();
  const many = appendTo(streamsOf(600));
  await release();
  await Promise.all(many);
  expect(calls()).toBe(2);
  const large = streamsOf(9).map((stream) =>
    store.append(stream, 'none', [newEvent({ text: 'x'.repeat(250_000) })]),
  );
  await Promise.all(large);
  // The first goes at once, the others in groups of four.
  expect(calls()).toBe(5);
});

test('an append that is in conflict gets it, and the others are stored with the next call', async () => {
  const { store, open, release, calls } = await start();
  const streams = streamsOf(20);
  const [taken = ''] = streams;
  await open().append(taken, 'none', newEvents(1));
  const before = calls();
  const appends = appendTo(streams);
  await release();
  const [conflict, ...others] = await Promise.all(appends);
  expect(conflict).toEqual({ kind: 'conflict', actual: 0n });
  expect(others.every(({ kind }) => kind === 'appended')).toBe(true);
  expect(calls() - before).toBe(2);
  for (const stream of streams) expect(await readStream(store, stream)).toHaveLength(1);
});

test('all are fenced by a claim, and appends under another condition are not', async () => {
  const { store, open, release, condition } = await start();
  await open().append(condition.stream, 0n, newEvents(1));
  const fenced = streamsOf(5).map((stream) => store.append(stream, 'none', newEvents(1), condition));
  const later = { ...condition, revision: 1n };
  const allowed = streamsOf(5).map((stream) => store.append(stream, 'none', newEvents(1), later));
  await release();
  expect((await Promise.all(fenced)).map(({ kind }) => kind)).toEqual(Array(5).fill('fenced'));
  expect((await Promise.all(allowed)).map(({ kind }) => kind)).toEqual(Array(5).fill('appended'));
});

test('each is stored once when the answer to the group is lost', async () => {
  const { store, double, release } = await start();
  const streams = streamsOf(20);
  const events = streams.map(() => newEvents(2));
  double.faults.next('appendRecords', { kind: 'lose-answer' });
  const appends = streams.map((stream, n) => store.append(stream, 'none', events[n] ?? []));
  await release();
  for (const result of await Promise.all(appends)) expect(result).toMatchObject({ revision: 1n });
  for (const [n, stream] of streams.entries())
    expect(ids(await readStream(store, stream))).toEqual(ids(events[n] ?? []));
});

test('each goes out alone when the server refuses the group for good', async () => {
  const { double, release, calls } = await start();
  const refusal = { kind: 'fail', code: status.PERMISSION_DENIED, message: 'Access Denied' } as const;
  double.faults.next('appendRecords', refusal, refusal);
  const appends = appendTo(streamsOf(10));
  await release();
  const results = await Promise.allSettled(appends);
  expect(results.filter((result) => result.status === 'rejected')).toHaveLength(1);
  expect(calls()).toBe(11);
});
