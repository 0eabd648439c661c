import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { createLagView, measureLag } from '../../services/operating/projection-lag.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { collect, ids, newEvents, readAll } from '../contract/event-store-fixtures.ts';
import { gate, type KurrentDbWorld, startWorld, streamOf } from './kurrentdb-world.ts';

const FOREIGN = 3_000_000;

let world: KurrentDbWorld;
const start = async () => {
  world = await startWorld();
  return world;
};
afterEach(() => world.end());

/** Returns the number of records that the server scanned during the work. */
const scannedBy = async (work: () => Promise<unknown>): Promise<number> => {
  const before = world.double.observed.scanned;
  await work();
  return world.double.observed.scanned - before;
};

const reaches = async (store: EventStore, subscriber: ReturnType<typeof collect>) => {
  const end = await store.lastPosition();
  while ((subscriber.searched.at(-1) ?? 0n) < end)
    await Promise.race([delay(5), subscriber.subscription.done]);
  return end;
};

describe(`${FOREIGN} records of another application behind the last event`, () => {
  test('the end of the log is found by reading one record', async () => {
    const { store, double } = await start();
    await store.append(streamOf(), 'none', newEvents(3));
    double.log.addForeign(FOREIGN);
    expect(await scannedBy(() => store.lastPosition())).toBe(1);
  });

  test('a subscription reads them once, and one that continues from its searched position does not read them again', async () => {
    const { store, double, open } = await start();
    await store.append(streamOf(), 'none', newEvents(3));
    double.log.addForeign(FOREIGN);
    const subscriber = collect(store);
    const scanned = await scannedBy(() => reaches(store, subscriber));
    expect(scanned).toBeLessThan(FOREIGN + 30_000);
    const searched = subscriber.searched.at(-1);
    const again = collect(open(), searched);
    await store.append(streamOf(), 'none', newEvents(1));
    expect(await scannedBy(() => again.until(1))).toBeLessThan(1_000);
  });

  test('a subscription that is cut continues from the last checkpoint', async () => {
    const { store, double } = await start();
    await store.append(streamOf(), 'none', newEvents(3));
    double.log.addForeign(FOREIGN);
    const subscriber = collect(store);
    while (subscriber.searched.length < 20) await delay(1);
    const cutAt = subscriber.searched.at(-1) ?? 0n;
    double.interrupt();
    await double.resume();
    await reaches(store, subscriber);
    expect(double.observed.starts.at(-1)).toBeGreaterThanOrEqual(cutAt);
    expect(subscriber.events).toHaveLength(3);
  });

  test('readiness and gauges of a caught-up process read a handful of records', async () => {
    const { store, double } = await start();
    await store.append(streamOf(), 'none', newEvents(3));
    double.log.addForeign(FOREIGN);
    const subscriber = collect(store);
    await reaches(store, subscriber);
    const applied = () => subscriber.searched.at(-1) ?? 0n;
    // Closed, since the subscription reads the log too.
    await subscriber.subscription.close();
    const view = createLagView(store, applied, Date.now);
    const scrape = () => Promise.all([view.seconds(), view.head(), view.lag(), view.lag()]);
    const calls = { ...double.calls };
    expect(await scannedBy(view.seconds)).toBe(1);
    expect(double.calls.read - calls.read).toBe(1);
    expect(await scannedBy(scrape)).toBe(1);
    expect(double.calls).toMatchObject({ read: calls.read + 2, subscribe: calls.subscribe });
    // A few more records have arrived since the last read.
    double.log.addForeign(20);
    expect(await scannedBy(scrape)).toBeLessThan(1_000);
    expect(double.calls.subscribe - calls.subscribe).toBeLessThanOrEqual(1);
  });

  test('a process that knows only the last event reads them once, not at every scrape', async () => {
    const { store, double } = await start();
    await store.append(streamOf(), 'none', newEvents(3));
    const applied = (await readAll(store)).at(-1)?.position ?? 0n;
    double.log.addForeign(FOREIGN);
    expect(await scannedBy(() => measureLag(store, applied, Date.now))).toBeGreaterThan(FOREIGN);
    expect(await scannedBy(() => measureLag(store, applied, Date.now))).toBeLessThan(30_000);
    await store.append(streamOf(), 'none', newEvents(1));
    expect(await measureLag(store, applied, Date.now)).toMatchObject({ events: 1 });
  });

  test('a read of the log returns the events before and after them', async () => {
    const { store, double } = await start();
    await store.append(streamOf(), 'none', newEvents(3));
    double.log.addForeign(FOREIGN);
    await store.append(streamOf(), 'none', newEvents(2));
    const searched: bigint[] = [];
    const read: string[] = [];
    for await (const batch of store.readAll(0n, { searched: (upTo) => searched.push(upTo) }))
      read.push(...ids(batch));
    expect(read).toHaveLength(5);
    expect(searched.at(-1)).toBe(await store.lastPosition());
  });
});

test.each([0, 1, 9_999, 10_001])(
  'a subscriber reaches a head that is %i foreign records ahead',
  async (count) => {
    const { store, double } = await start();
    await store.append(streamOf(), 'none', newEvents(1));
    const subscriber = collect(store);
    await subscriber.until(1);
    if (count > 0) double.log.addForeign(count);
    await reaches(store, subscriber);
    expect(subscriber.events).toHaveLength(1);
  },
);

test('records ahead are searched once, however often their end is asked for meanwhile', async () => {
  const ahead = 9_990;
  const { store, double } = await start();
  await store.append(streamOf(), 'none', newEvents(1));
  const subscriber = collect(store);
  await subscriber.until(1);
  await reaches(store, subscriber);
  double.log.addForeign(ahead);
  const scanned = await scannedBy(async () => {
    await Promise.all(Array.from({ length: 5 }, () => store.lastPosition()));
    await reaches(store, subscriber);
    // After these calls, a search that began before the end was reported has been answered.
    for (let n = 0; n < 3; n++) await store.lastPosition();
  });
  expect(scanned).toBeGreaterThanOrEqual(ahead);
  expect(scanned).toBeLessThan(2 * ahead);
});

test('a subscriber keeps up with a head that others move constantly, and misses no event', async () => {
  const { store, double } = await start();
  const subscriber = collect(store);
  const timer = setInterval(() => double.log.addForeign(10), 10);
  const written: string[] = [];
  for (let n = 0; n < 20; n += 1) {
    const events = newEvents(1);
    await store.append(streamOf(), 'none', events);
    written.push(...ids(events));
    await reaches(store, subscriber);
  }
  clearInterval(timer);
  expect(ids(subscriber.events)).toEqual(written);
});

test('a searched position is reported only after every event before it, also with a full buffer', async () => {
  const { store, double } = await start();
  await store.append(streamOf(), 'none', newEvents(700));
  double.log.addForeign(25_000);
  const busy = gate();
  const handled: string[] = [];
  const reported: { readonly upTo: bigint; readonly behind: number }[] = [];
  const subscription = store.subscribe(
    0n,
    async (events, upTo) => {
      if (handled.length > 0) await busy.passed;
      handled.push(...ids(events));
      reported.push({ upTo, behind: handled.length });
    },
    { batchSize: 10 },
  );
  // Now the server has sent its checkpoint, and the handler has handled ten events.
  while (double.observed.scanned < 25_000) await Promise.race([delay(5), subscription.done]);
  await delay(50);
  busy.open();
  const end = await store.lastPosition();
  while ((reported.at(-1)?.upTo ?? 0n) < end) await Promise.race([delay(5), subscription.done]);
  const log = await readAll(store);
  for (const { upTo, behind } of reported) {
    expect(log.filter(({ position }) => position <= upTo)).toHaveLength(behind);
  }
});
