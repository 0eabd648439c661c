import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LogRestored } from '../../shared/event-store/event-store.ts';
import { collect, newEvents, readAll } from '../contract/event-store-fixtures.ts';
import { type KurrentDbWorld, lastOf, startWorld, streamOf } from './kurrentdb-world.ts';

describe.each(['24.2', '26.1'] as const)('an older copy of the log of %s is restored', (server) => {
  let world: KurrentDbWorld;
  beforeEach(async () => {
    world = await startWorld({ server });
  });
  afterEach(() => world.end());

  /** Returns the function that restores the copy, and the last event that it lacks. */
  const writeAfterBackup = async () => {
    const { store, double } = world;
    await store.append(streamOf(), 'none', newEvents(5));
    const restore = double.log.backUp();
    const stored = await store.append(streamOf(), 'none', newEvents(3));
    if (stored.kind !== 'appended') throw new Error(stored.kind);
    return { restore, lost: stored.position };
  };

  test('a running subscription ends, and names both positions', async () => {
    const { restore, lost } = await writeAfterBackup();
    const { subscription, events } = collect(world.store);
    await vi.waitUntil(() => events.length === 8, { timeout: 60_000 });
    await world.double.restore(restore);
    const error: unknown = await subscription.done.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LogRestored);
    const end = world.double.log.records.at(-1)?.position;
    expect((error as Error).message).toMatch(
      new RegExp(`ends at position ${end}, and this process has read another history up to position ${lost}`),
    );
    await expect(world.store.lastPosition()).rejects.toThrow(LogRestored);
  });

  test('others push the log past the old position', async () => {
    const { restore } = await writeAfterBackup();
    const { subscription, events } = collect(world.store);
    await vi.waitUntil(() => events.length === 8, { timeout: 60_000 });
    await world.double.restore(() => {
      restore();
      world.double.log.addForeign(1_000, 97);
    });
    await expect(subscription.done).rejects.toThrow(/has other records at position/);
    expect(events).toHaveLength(8);
  });

  test('an append is not stored, also if it was in flight', async () => {
    const { restore } = await writeAfterBackup();
    expect(await readAll(world.store)).toHaveLength(8);
    const records = world.double.log.records.length;
    const writing = Promise.allSettled(
      Array.from({ length: 20 }, () => world.store.append(streamOf(), 'none', newEvents(1))),
    );
    await world.double.restore(() => {
      restore();
      world.double.log.addForeign(1_000, 97);
    });
    const restored = world.double.log.records.length;
    await writing;
    await expect(world.store.append(streamOf(), 'none', newEvents(1))).rejects.toThrow(LogRestored);
    expect(world.double.log.records.length).toBe(restored);
    expect(restored).toBeGreaterThan(records);
  });

  test('the end of the log is behind', async () => {
    const { restore } = await writeAfterBackup();
    await readAll(world.store);
    await world.double.restore(restore);
    await expect(world.store.lastPosition()).rejects.toThrow(LogRestored);
    await expect(readAll(world.store)).rejects.toThrow(LogRestored);
  });

  test('only records of others are lost: the subscription cannot continue either', async () => {
    await world.store.append(streamOf(), 'none', newEvents(5));
    const restore = world.double.log.backUp();
    const { subscription, positions } = collectPositions(world);
    world.double.log.addForeign(1_000, 97);
    const end = await world.store.lastPosition();
    await vi.waitUntil(() => positions.at(-1) === end, { timeout: 60_000 });
    await world.double.restore(restore);
    await expect(subscription.done).rejects.toThrow(LogRestored);
  });

  test('a copy that has everything changes nothing', async () => {
    await world.store.append(streamOf(), 'none', newEvents(5));
    const { subscription, events } = collect(world.store);
    await vi.waitUntil(() => events.length === 5, { timeout: 60_000 });
    const restore = world.double.log.backUp();
    await world.double.restore(restore);
    await world.store.append(streamOf(), 'none', newEvents(2));
    await vi.waitUntil(() => events.length === 7, { timeout: 60_000 });
    await subscription.close();
  });

  test('a scavenge that removes the newest event changes nothing', async () => {
    const stream = streamOf();
    const { subscription, events } = collect(world.store);
    await world.store.append(stream, 'none', newEvents(2));
    await vi.waitUntil(() => events.length === 2, { timeout: 60_000 });
    world.double.log.delete(stream);
    world.double.log.scavenge();
    world.double.interrupt();
    await world.double.resume();
    await world.store.append(streamOf(), 'none', newEvents(1));
    await vi.waitUntil(() => events.length === 3, { timeout: 60_000 });
    await subscription.close();
  });

  test('a position of a caller after the end of the log is only a position', async () => {
    const { lost } = await writeAfterBackup();
    expect(await readAll(world.store, lost + 1_000_000n)).toEqual([]);
    expect(await readAll(world.store)).toHaveLength(8);
  });

  test('a repeated append still has its first result', async () => {
    const stream = streamOf();
    const events = newEvents(2);
    const first = await world.store.append(stream, 'none', events);
    await world.store.append(streamOf(), 'none', newEvents(2));
    lastOf(await readAll(world.store));
    expect(await world.store.append(stream, 'none', events)).toEqual(first);
  });
});

/** Subscribes and collects the positions up to which the log was searched. */
const collectPositions = ({ store }: KurrentDbWorld) => {
  const positions: bigint[] = [];
  const subscription = store.subscribe(0n, async (_, upTo) => void positions.push(upTo));
  return { subscription, positions };
};

test('a subscription that must begin at an earlier record survives a failure of that search', async () => {
  const world = await startWorld();
  const { double } = world;
  await world.store.append(streamOf(), 'none', newEvents(3));
  const events = await readAll(world.store);
  // A read from a position without a record is refused. The pages that follow fail once.
  double.faults.next('read', { kind: 'fail', code: 14, message: 'gone' });
  const seen: string[] = [];
  const subscription = world
    .open()
    .subscribe(
      lastOf(events.slice(0, 2)).position + 1n,
      async (found) => void seen.push(...found.map(({ id }) => id)),
    );
  await vi.waitUntil(() => seen.length === 1, { timeout: 60_000 });
  expect(seen).toEqual([lastOf(events).id]);
  expect(double.faults.left()).toBe(0);
  await subscription.close();
  await world.end();
});
