import { afterEach, expect, test } from 'vitest';
import { AppendTooLarge } from '../../shared/event-store/event-store.ts';
import { ids, newEvent, newEvents, readStream } from '../contract/event-store-fixtures.ts';
import { createDoubleLog } from '../support/kurrentdb/double-log.ts';
import { gate, type KurrentDbWorld, startWorld, streamOf, type WorldOptions } from './kurrentdb-world.ts';

let world: KurrentDbWorld;
const start = async (options?: WorldOptions) => {
  world = await startWorld(options);
  return world;
};
afterEach(() => world.end());

const settled = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise<void>((resolve) => setImmediate(resolve));
};

test('all appends share one call, and wait for no other', async () => {
  const { store, double } = await start();
  for (let n = 0; n < 5; n += 1) await store.append(streamOf(), 'none', newEvents(1));
  const held = gate();
  const hold = { kind: 'hold', until: held.passed } as const;
  double.faults.next('batchAppend', ...Array.from({ length: 600 }, () => hold));
  const appends = Array.from({ length: 600 }, () => store.append(streamOf(), 'none', newEvents(1)));
  await settled(() => double.calls.batchAppend === 605);
  held.open();
  for (const result of await Promise.all(appends)) expect(result.kind).toBe('appended');
  expect(double.observed.batchCalls).toBe(1);
});

test('a large append has a call of its own, so that its refusal breaks no other', async () => {
  // The number of calls must not depend on the speed of the machine.
  const { store, double, troubles } = await start({ store: { deadlineMs: 60_000 } });
  const held = gate();
  double.faults.next('batchAppend', { kind: 'hold', until: held.passed });
  const small = store.append(streamOf(), 'none', newEvents(1));
  await settled(() => double.calls.batchAppend === 1);
  const texts = [9_000_000, 17_000_000, 9_000_000].map((size) => newEvent({ text: 'x'.repeat(size) }));
  await expect(store.append(streamOf(), 'none', texts)).rejects.toThrow(AppendTooLarge);
  held.open();
  expect(await small).toMatchObject({ kind: 'appended' });
  // Each event has its own message.
  const large = [newEvent({ text: 'x'.repeat(9_000_000) }), newEvent({ text: 'x'.repeat(9_000_000) })];
  expect(await store.append(streamOf(), 'none', large)).toMatchObject({ kind: 'appended', revision: 1n });
  expect(double.observed.batchCalls).toBe(3);
  expect(troubles).toEqual([]);
});

test('an append that was written but reported as timed out is stored once', async () => {
  const { store, double } = await start({ log: createDoubleLog({ rememberedIds: 0 }) });
  const stream = streamOf();
  double.faults.next('batchAppend', { kind: 'time-out' });
  const events = newEvents(2);
  const result = await store.append(stream, 'none', events);
  const stored = await readStream(store, stream);
  expect(ids(stored)).toEqual(ids(events));
  expect(result).toEqual({ kind: 'appended', revision: 1n, position: stored[1]?.position });
  expect(double.calls).toMatchObject({ batchAppend: 2 });
});

test('when one append breaks their call, the others on it are made again, and each is stored once', async () => {
  const { store, double } = await start();
  const held = gate();
  double.faults.next('batchAppend', { kind: 'hold', until: held.passed });
  const streams = Array.from({ length: 10 }, () => streamOf());
  const first = store.append(streams[0] as string, 'none', newEvents(1));
  await settled(() => double.calls.batchAppend === 1);
  double.faults.next('batchAppend', ...Array.from({ length: 9 }, () => ({ kind: 'lose-answer' }) as const));
  const others = streams.slice(1).map((stream) => store.append(stream, 'none', newEvents(1)));
  await Promise.all(others);
  held.open();
  expect(await first).toMatchObject({ kind: 'appended', revision: 0n });
  for (const stream of streams) expect(await readStream(store, stream)).toHaveLength(1);
});

test('an append without an answer ends its call after the deadline, and a late one is stored once', async () => {
  const { store, double, troubles } = await start({ store: { deadlineMs: 200 } });
  const late = gate();
  double.faults.next('batchAppend', { kind: 'hold', until: late.passed });
  const stream = streamOf();
  expect(await store.append(stream, 'none', newEvents(1))).toMatchObject({ kind: 'appended', revision: 0n });
  expect(troubles).toHaveLength(1);
  late.open();
  expect(await store.append(stream, 0n, newEvents(1))).toMatchObject({ kind: 'appended', revision: 1n });
  expect(await readStream(store, stream)).toHaveLength(2);
});

test('calls end with the channel they were made on, and with the store', async () => {
  const { store, double } = await start();
  await Promise.all(Array.from({ length: 8 }, () => store.append(streamOf(), 'none', newEvents(1))));
  expect(double.observed.openBatchCalls).toBe(1);
  double.interrupt();
  await settled(() => double.observed.openBatchCalls === 0);
  await double.resume();
  await store.append(streamOf(), 'none', newEvents(1));
  expect(double.observed.openBatchCalls).toBe(1);
  await store.close();
  await settled(() => double.observed.openBatchCalls === 0);
});
