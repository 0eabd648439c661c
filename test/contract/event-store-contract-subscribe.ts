import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { EventStore, NewEvent, StoredEvent } from '../../shared/event-store/event-store.ts';
import { collect, ids, newEvents, newStream, readAll, type WithLog } from './event-store-fixtures.ts';

export const describeSubscribing = (withLog: WithLog): void => {
  describe('subscribe', () => {
    describeOrder(withLog);
    describeHandlers(withLog);
    describeClosing(withLog);
  });
};

const describeOrder = (withLog: WithLog): void => {
  test(
    'delivers stored events, then appended ones, as a read of the log returns them',
    withLog(async (store) => {
      await store.append(newStream(), 'none', newEvents(3));
      const subscriber = collect(store);
      await subscriber.until(3);
      await store.append(newStream(), 'none', newEvents(2));
      await subscriber.until(5);
      expect(subscriber.events).toEqual(await readAll(store));
      expect(subscriber.events).toHaveLength(5);
    }),
  );

  test(
    'every subscriber reaches lastPosition, also without an event of its own there',
    withLog(async (store, open) => {
      await store.append(newStream(), 'none', newEvents(3));
      const other = await open();
      const end = await store.lastPosition();
      const subscribers = [collect(store), collect(other), collect(other, end)];
      const reached = ({ searched }: (typeof subscribers)[number], after: bigint) =>
        after >= end || (searched.at(-1) ?? 0n) >= end;
      while (!subscribers.every((subscriber, n) => reached(subscriber, n === 2 ? end : 0n))) {
        await Promise.race([delay(5), ...subscribers.map(({ subscription }) => subscription.done)]);
      }
    }),
  );

  test(
    'delivers only the events of one stream if requested, and searches past all others',
    withLog(async (store) => {
      const stream = newStream();
      const events = newEvents(2);
      await store.append(newStream(), 'none', newEvents(3));
      await store.append(stream, 'none', events.slice(0, 1));
      const seen: string[] = [];
      let searched = 0n;
      const handle = async (batch: readonly StoredEvent[], upTo: bigint) => {
        seen.push(...ids(batch));
        searched = upTo;
      };
      const subscription = store.subscribe(0n, handle, { stream });
      await store.append(stream, 0n, events.slice(1));
      await store.append(newStream(), 'none', newEvents(3));
      const end = await store.lastPosition();
      while (searched < end) await Promise.race([delay(5), subscription.done]);
      expect(seen).toEqual(ids(events));
    }),
  );

  test(
    'starts on an empty log, and from any position',
    withLog(async (store) => {
      const fromNothing = collect(store);
      await store.append(newStream(), 'none', newEvents(10));
      const log = await readAll(store);
      const fromFourth = collect(store, log[3]?.position);
      const fromEnd = collect(store, await store.lastPosition());
      await store.append(newStream(), 'none', newEvents(1));
      await Promise.all([fromNothing.until(11), fromFourth.until(7), fromEnd.until(1)]);
      const all = await readAll(store);
      expect(fromNothing.events).toEqual(all);
      expect(fromFourth.events).toEqual(all.slice(4));
      expect(fromEnd.events).toEqual(all.slice(10));
    }),
  );

  test(
    'delivers each event once and in order to subscribers that start during concurrent appends, from two stores',
    withLog(async (store, open) => {
      const other = await open();
      await store.append(newStream(), 'none', newEvents(300));
      const subscribers: ReturnType<typeof collect>[] = [];
      const writer = async (writing: EventStore, count: number) => {
        const stream = newStream();
        for (let n = 0; n < count; n += 1) {
          await writing.append(stream, 'any', newEvents((n % 3) + 1));
          if (n % 10 === 5) subscribers.push(collect(n % 20 === 5 ? store : other, 0n, 1 + n));
        }
      };
      await Promise.all([writer(store, 60), writer(store, 60), writer(other, 60), writer(other, 60)]);
      const log = await readAll(store);
      expect(log).toHaveLength(300 + 4 * 120);
      expect(subscribers).toHaveLength(24);
      await Promise.all(subscribers.map((subscriber) => subscriber.until(log.length)));
      for (const subscriber of subscribers) expect(ids(subscriber.events)).toEqual(ids(log));
    }),
  );

  test(
    'delivers events that another store on the same log appended after it had caught up',
    withLog(async (store, open) => {
      const other = await open();
      const subscriber = collect(store);
      await store.append(newStream(), 'none', newEvents(1));
      await subscriber.until(1);
      for (let n = 1; n <= 5; n += 1) {
        await other.append(newStream(), 'none', newEvents(2));
        await subscriber.until(1 + 2 * n);
      }
      await store.append(newStream(), 'none', newEvents(1));
      await subscriber.until(12);
      expect(subscriber.events).toEqual(await readAll(other));
    }),
  );

  test(
    'events that arrive during a call come together with the next one',
    withLog(async (store) => {
      const other = collect(store);
      const batches: number[] = [];
      const released = Promise.withResolvers<void>();
      const all = Promise.withResolvers<void>();
      const subscription = store.subscribe(0n, async (events) => {
        if (events.length > 0) batches.push(events.length);
        if (batches.reduce((sum, size) => sum + size, 0) === 51) all.resolve();
        if (batches.length === 1) await released.promise;
      });
      subscription.done.catch(all.reject);
      await store.append(newStream(), 'none', newEvents(1));
      while (batches.length === 0) await Promise.race([delay(5), subscription.done]);
      await Promise.all(Array.from({ length: 50 }, () => store.append(newStream(), 'none', newEvents(1))));
      // Another subscriber of this store has received them.
      await other.until(51);
      await delay(500);
      released.resolve();
      await all.promise;
      expect(batches.length).toBeLessThanOrEqual(3);
    }),
  );

  test(
    'catches up on a large log in batches of at most batchSize',
    withLog(async (store) => {
      for (let n = 0; n < 10; n += 1) await store.append(newStream(), 'none', ofManyCommands(newEvents(500)));
      const sizes: number[] = [];
      const seen: string[] = [];
      await new Promise<void>((resolve, reject) => {
        const handle = async (events: readonly StoredEvent[]) => {
          sizes.push(events.length);
          seen.push(...ids(events));
          if (seen.length >= 5_000) resolve();
        };
        store.subscribe(0n, handle, { batchSize: 64 }).done.catch(reject);
      });
      expect(Math.max(...sizes)).toBeLessThanOrEqual(64);
      expect(seen).toEqual(ids(await readAll(store)));
    }),
  );
};

/** Gives each event another time, as if a command had stored it alone: a store may keep the events of one command together. */
const ofManyCommands = (events: readonly NewEvent[]): readonly NewEvent[] =>
  events.map((event, n) => ({ ...event, metadata: { ...event.metadata, at: new Date(n).toISOString() } }));

const describeHandlers = (withLog: WithLog): void => {
  test(
    'is not called again before its promise resolves, and misses nothing that is appended meanwhile',
    withLog(async (store) => {
      const release: (() => void)[] = [];
      const seen: string[] = [];
      let running = 0;
      let most = 0;
      const handle = async (events: readonly StoredEvent[]) => {
        running += 1;
        most = Math.max(most, running);
        seen.push(...ids(events));
        // Calls without events report positions. They may come first.
        if (events.length > 0 && release.length === 0)
          await new Promise<void>((resolve) => release.push(resolve));
        running -= 1;
      };
      await store.append(newStream(), 'none', newEvents(1));
      const subscription = store.subscribe(0n, handle);
      while (release.length === 0) await nextTurn();
      for (let n = 0; n < 50; n += 1) await store.append(newStream(), 'none', newEvents(100));
      expect(seen).toHaveLength(1);
      release[0]?.();
      while (seen.length < 5_001) await Promise.race([nextTurn(), subscription.done]);
      expect(most).toBe(1);
      expect(seen).toEqual(ids(await readAll(store)));
    }),
  );

  test(
    'a handler that throws stops only its subscription: done rejects with the error, nothing more is delivered',
    withLog(async (store) => {
      const healthy = collect(store);
      let calls = 0;
      const failing = store.subscribe(0n, async () => {
        calls += 1;
        throw new Error('no more');
      });
      const failed = expect(failing.done).rejects.toThrow('no more');
      await store.append(newStream(), 'none', newEvents(1));
      await failed;
      await store.append(newStream(), 'none', newEvents(1));
      await healthy.until(2);
      expect(calls).toBe(1);
      await failing.close();
    }),
  );

  test(
    'a new subscription from the last handled event continues where the first one stopped',
    withLog(async (store) => {
      await store.append(newStream(), 'none', ofManyCommands(newEvents(40)));
      const first: StoredEvent[] = [];
      const failing = store.subscribe(
        0n,
        async (events) => {
          if (first.length >= 14) throw new Error('stop here');
          first.push(...events);
        },
        { batchSize: 7 },
      );
      await expect(failing.done).rejects.toThrow('stop here');
      const second = collect(store, first.at(-1)?.position);
      await store.append(newStream(), 'none', newEvents(2));
      await second.until(42 - first.length);
      expect(ids([...first, ...second.events])).toEqual(ids(await readAll(store)));
    }),
  );

  test(
    'a handler may append: its own events come back to it',
    withLog(async (store) => {
      const seen: string[] = [];
      const stream = newStream();
      const subscription = store.subscribe(0n, async (events) => {
        seen.push(...ids(events));
        if (seen.length < 5) await store.append(stream, 'any', newEvents(1));
      });
      await store.append(stream, 'any', newEvents(1));
      while (seen.length < 5) await Promise.race([nextTurn(), subscription.done]);
      expect(seen).toEqual(ids(await readAll(store)));
    }),
  );
};

const describeClosing = (withLog: WithLog): void => {
  test(
    'close waits for the running handler; after it no handler is called, and done resolves',
    withLog(async (store) => {
      let release: (() => void) | undefined;
      let calls = 0;
      let finished = false;
      const subscription = store.subscribe(
        0n,
        async () => {
          calls += 1;
          await new Promise<void>((resolve) => {
            release = resolve;
          });
          finished = true;
        },
        { batchSize: 1 },
      );
      await store.append(newStream(), 'none', newEvents(3));
      while (release === undefined) await nextTurn();
      let closed = false;
      const closing = subscription.close().then(() => {
        closed = true;
      });
      await nextTurn();
      expect(closed).toBe(false);
      release();
      await closing;
      expect(finished).toBe(true);
      await subscription.done;
      await store.append(newStream(), 'none', newEvents(3));
      await nextTurn();
      expect(calls).toBe(1);
    }),
  );

  test(
    'an idle subscription closes, also twice and before its first event; closing the store closes the others',
    withLog(async (store, open) => {
      const idle = store.subscribe(0n, async () => undefined);
      await Promise.all([idle.close(), idle.close()]);
      await idle.done;
      const other = await open();
      const level = collect(other);
      await other.append(newStream(), 'none', newEvents(1));
      await level.until(1);
      await other.close();
      await level.subscription.done;
      expect(level.events).toHaveLength(1);
    }),
  );
};

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
