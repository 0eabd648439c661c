import { describe, expect, test } from 'vitest';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import {
  collect,
  ids,
  newEvents,
  newStream,
  readAll,
  readStream,
  type WithLog,
} from './event-store-fixtures.ts';

/** Tests two namespaces in one log. */
export const describeSpaces = (withLog: WithLog): void => {
  describe('spaces', () => {
    describeIsolation(withLog);
    describeForeignEvents(withLog);
  });
};

const describeIsolation = (withLog: WithLog): void => {
  test(
    'two namespaces write the same events to streams of the same names, and each has its own',
    withLog(async (store, _open, openNeighbour) => {
      const neighbour = await openNeighbour();
      const stream = newStream();
      const [shared, ours, theirs] = [newEvents(2), newEvents(3), newEvents(4)];
      const [here, there] = [collect(store), collect(neighbour)];
      await store.append(stream, 'none', shared);
      expect(await neighbour.append(stream, 'none', shared)).toMatchObject({
        kind: 'appended',
        revision: 1n,
      });
      await neighbour.append(stream, 1n, theirs);
      expect(await store.append(stream, 5n, ours)).toEqual({ kind: 'conflict', actual: 1n });
      await store.append(stream, 1n, ours);
      expect(ids(await readStream(store, stream))).toEqual(ids([...shared, ...ours]));
      expect(ids(await readStream(neighbour, stream))).toEqual(ids([...shared, ...theirs]));
      await Promise.all([here.until(5), there.until(6)]);
      for (const [space, subscriber] of [
        [store, here],
        [neighbour, there],
      ] as const) {
        const log = (await readAll(space)).filter((event) => event.stream === stream);
        expect(subscriber.events.filter((event) => event.stream === stream)).toEqual(log);
        expect(ids(log)).toEqual(ids(await readStream(space, stream)));
      }
    }),
  );

  test(
    'namespaces that write at the same time are read in every batch size, from every position',
    withLog(async (store, open, openNeighbour) => {
      const neighbour = await openNeighbour();
      const other = await open();
      const write = async (space: EventStore, sizes: readonly number[]) => {
        for (const size of sizes) await space.append(newStream(), 'none', newEvents(size));
      };
      await Promise.all([write(store, [1, 3, 2, 1]), write(neighbour, [2, 1, 1, 4]), write(other, [5, 1])]);
      for (const space of [store, neighbour]) {
        const log = await readAll(space);
        expect(log.filter((event) => event.unreadable !== undefined)).toEqual([]);
        for (const batchSize of [1, 3]) {
          for (const [n, { position }] of [...log.entries()].slice(0, 6))
            expect(await readAll(space, position, batchSize)).toEqual(log.slice(n + 1));
        }
        expect(await space.lastPosition()).toBeGreaterThanOrEqual(log.at(-1)?.position ?? 0n);
      }
    }),
  );
};

const describeForeignEvents = (withLog: WithLog): void => {
  test.each([0, 1, 9_999])(
    'a subscriber reaches the last position with %i later events of another namespace',
    (count) =>
      withLog(async (store, _open, openNeighbour) => {
        const neighbour = await openNeighbour();
        const early = follow(store, 0n);
        await store.append(newStream(), 'none', newEvents(3));
        for (let left = count; left > 0; left -= 1_000)
          await neighbour.append(newStream(), 'none', newEvents(Math.min(left, 1_000)));
        const end = await store.lastPosition();
        const late = follow(store, end);
        await Promise.all([early.reached(end), late.reached(end)]);
        expect([early.events(), late.events()]).toEqual([3, 0]);
        // The number of calls without events is small, even if other namespaces have many events.
        expect(early.calls() + late.calls()).toBeLessThan(200);
        await Promise.all([early.close(), late.close()]);
      })(),
  );

  test(
    'a subscriber reaches the last position while another namespace keeps writing',
    withLog(async (store, _open, openNeighbour) => {
      const neighbour = await openNeighbour();
      const follower = follow(store, 0n);
      for (let n = 1; n <= 20; n += 1) {
        await neighbour.append(newStream(), 'none', newEvents(50));
        if (n % 5 === 0) await store.append(newStream(), 'none', newEvents(1));
        await follower.reached(await store.lastPosition());
      }
      expect(follower.events()).toBe(4);
      await follower.close();
    }),
  );
};

/** Subscribes, and records the position up to which the log was searched. */
const follow = (store: EventStore, after: bigint) => {
  let [upTo, calls, count] = [after, 0, 0];
  let advanced = () => {};
  const subscription = store.subscribe(after, async (events, searched) => {
    expect(searched).toBeGreaterThanOrEqual(events.at(-1)?.position ?? upTo);
    upTo = searched;
    calls += 1;
    count += events.length;
    advanced();
  });
  const reached = async (position: bigint) => {
    while (upTo < position) {
      await Promise.race([
        subscription.done,
        new Promise<void>((resolve) => {
          advanced = resolve;
        }),
      ]);
    }
  };
  return { reached, calls: () => calls, events: () => count, close: () => subscription.close() };
};
