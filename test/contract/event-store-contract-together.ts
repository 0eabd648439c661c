import { describe, expect, test } from 'vitest';
import type { NewEvent, OrderedAppend } from '../../shared/event-store/event-store.ts';
import {
  type Abilities,
  ids,
  newEvent,
  newEvents,
  newStream,
  readAll,
  readStream,
  type WithLog,
} from './event-store-fixtures.ts';

/** Returns an event whose metadata names a command. */
const ofCommand = (id: string): NewEvent => {
  const event = newEvent();
  return { ...event, metadata: { ...event.metadata, command: { id } } };
};
/** Returns appends of one event each, to new streams, which have one command. */
export const toNewStreams = (count: number, command = 'release'): readonly OrderedAppend[] =>
  Array.from({ length: count }, () => ({
    stream: newStream(),
    expected: 'none',
    events: [ofCommand(command)],
  }));
const idsOf = (appends: readonly OrderedAppend[]) => appends.flatMap(({ events }) => ids(events));

/** Tests appends to several streams that are stored together, on stores that can do it and on stores that refuse. */
export const describeTogether = (withLog: WithLog, checks: Abilities['checksConditions'] = true): void => {
  const where =
    (expected: boolean): WithLog =>
    (body) =>
      withLog(async (store, open, openNeighbour) => {
        if ((await store.checksConditions()) === expected) await body(store, open, openNeighbour);
        else console.log('not run: this server does the other of both');
      });
  describe('appends to several streams together', () => {
    if (checks !== false) describeWhole(where(true));
    if (checks !== true) {
      test(
        'are refused by a server that does not check conditions',
        where(false)(async (store) => {
          await expect(store.appendTogether(toNewStreams(2))).rejects.toThrow('older than 26.1');
          expect(await readAll(store)).toEqual([]);
        }),
      );
    }
    test(
      'are refused if one stream is named twice',
      withLog(async (store) => {
        const [one] = toNewStreams(1) as [OrderedAppend];
        const twice = { ...one, events: newEvents(1) };
        await expect(store.appendTogether([one, twice])).rejects.toThrow('name a stream twice');
        expect(await readAll(store)).toEqual([]);
      }),
    );
  });
};

const describeWhole = (withLog: WithLog): void => {
  test(
    'are stored in their order, and once if they are repeated',
    withLog(async (store, open) => {
      const appends = toNewStreams(300);
      const first = await store.appendTogether(appends);
      expect(first).toMatchObject({ kind: 'appended' });
      expect(await (await open()).appendTogether(appends)).toEqual(first);
      expect(ids(await readAll(store))).toEqual(idsOf(appends));
    }),
  );

  test(
    'are not stored if one of them is in conflict',
    withLog(async (store) => {
      const [one, taken, other] = toNewStreams(3) as [OrderedAppend, OrderedAppend, OrderedAppend];
      await store.append(taken.stream, 'none', newEvents(2));
      expect(await store.appendTogether([one, taken, other])).toEqual({
        kind: 'conflict',
        stream: taken.stream,
        actual: 1n,
      });
      expect(await readAll(store)).toHaveLength(2);
      const again = await store.appendTogether([one, { ...taken, expected: 1n }, other]);
      expect(again).toMatchObject({ kind: 'appended' });
      expect(await readStream(store, taken.stream)).toHaveLength(3);
    }),
  );

  test(
    'are not stored if their condition does not hold',
    withLog(async (store) => {
      const lease = newStream();
      await store.append(lease, 'none', newEvents(2));
      const appends = toNewStreams(2);
      expect(await store.appendTogether(appends, { stream: lease, revision: 0n })).toEqual({
        kind: 'fenced',
      });
      expect(await readAll(store)).toHaveLength(2);
      expect(await store.appendTogether(appends, { stream: lease, revision: 1n })).toMatchObject({
        kind: 'appended',
      });
    }),
  );
};
