import { describe, expect, test } from 'vitest';
import type { OrderedAppend } from '../../shared/event-store/event-store.ts';
import { ids, newEvent, newEvents, newStream, readAll, type WithLog } from './event-store-fixtures.ts';

/** Returns a sequence to these streams in turns, in which some streams follow themselves. */
const sequenceOf = (count: number, streams: readonly string[]): readonly OrderedAppend[] => {
  const next = new Map<string, bigint>();
  return Array.from({ length: count }, (_, n) => {
    const stream = streams[Math.floor(n / 2) % streams.length] ?? '';
    const last = next.get(stream);
    const events = n % 7 === 0 ? [newEvent({ text: 'x'.repeat(n === 70 ? 300_000 : 20_000) })] : newEvents(1);
    next.set(stream, (last ?? -1n) + 1n);
    return { stream, expected: last ?? 'none', events };
  });
};

const idsOf = (appends: readonly OrderedAppend[]) => appends.flatMap(({ events }) => ids(events));
const newStreams = (count: number) => Array.from({ length: count }, newStream);

/** A sequence of appends. */
export const describeOrder = (withLog: WithLog): void => {
  describe('a sequence', () => {
    test(
      'is stored in its order, over many streams',
      withLog(async (store) => {
        const appends = sequenceOf(700, newStreams(40));
        const results = await store.appendInOrder(appends);
        expect(ids(await readAll(store))).toEqual(idsOf(appends));
        expect(results.map((result) => result.kind === 'appended' && result.revision)).toEqual(
          appends.map(({ expected }) => (expected === 'none' ? 0n : expected + 1n)),
        );
      }),
    );

    test(
      'continues after its part that is stored, from another store',
      withLog(async (store, open) => {
        const appends = sequenceOf(60, newStreams(7));
        await store.appendInOrder(appends.slice(0, 33));
        const other = await open();
        expect(await other.appendInOrder(appends)).toHaveLength(60);
        expect(ids(await readAll(other))).toEqual(idsOf(appends));
      }),
    );

    test(
      'reports the append that is in conflict',
      withLog(async (store) => {
        const [one, taken, other] = newStreams(3) as [string, string, string];
        await store.append(taken, 'none', newEvents(1));
        const appends = [one, taken, other].map(
          (stream): OrderedAppend => ({ stream, expected: 'none', events: newEvents(1) }),
        );
        const [stored, conflict] = await store.appendInOrder(appends);
        expect(stored).toMatchObject({ kind: 'appended' });
        expect(conflict).toEqual({ kind: 'conflict', actual: 0n });
      }),
    );
  });
};
