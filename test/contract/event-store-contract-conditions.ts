import { describe, expect, test } from 'vitest';
import type { EventStore, ExpectedRevision } from '../../shared/event-store/event-store.ts';
import {
  type Abilities,
  ids,
  newEvents,
  newStream,
  readAll,
  readStream,
  type WithLog,
} from './event-store-fixtures.ts';

/** Tests appends with a condition, on stores that check conditions and on stores that do not. */
export const describeConditions = (withLog: WithLog, checks: Abilities['checksConditions'] = true): void => {
  const where =
    (expected: boolean): WithLog =>
    (body) =>
      withLog(async (store, open, openNeighbour) => {
        const actual = await store.checksConditions();
        if (checks !== 'of its version') expect(actual).toBe(expected);
        if (actual === expected) await body(store, open, openNeighbour);
        else console.log(`not run: the server ${actual ? 'checks' : 'does not check'} conditions`);
      });
  describe('a condition', () => {
    if (checks !== false) describeChecked(where(true));
    if (checks !== true) describeIgnored(where(false));
    describeRetries(withLog);
  });
};

const describeChecked = (withLog: WithLog): void => {
  const revisions: [bigint, boolean][] = [
    [1n, true],
    [0n, false],
    [2n, false],
    [-1n, false],
    [2n ** 63n, false],
  ];
  test.each(revisions)('at revision %s of a stream of two events is met: %s', (revision, isMet) =>
    withLog(async (store) => {
      const lease = await newLease(store);
      const stream = newStream();
      const result = await store.append(stream, 'none', newEvents(2), { stream: lease, revision });
      expect(result).toMatchObject(isMet ? { kind: 'appended', revision: 1n } : { kind: 'fenced' });
      expect(await readStream(store, stream)).toHaveLength(isMet ? 2 : 0);
      expect(await readAll(store)).toHaveLength(isMet ? 4 : 2);
    })(),
  );

  test(
    'on a stream that does not exist is not met',
    withLog(async (store) => {
      const condition = { stream: newStream(), revision: 0n };
      expect(await store.append(newStream(), 'none', newEvents(1), condition)).toEqual({ kind: 'fenced' });
      expect(await readAll(store)).toEqual([]);
    }),
  );

  const expectations: ExpectedRevision[] = ['none', 0n, 7n];
  test.each(expectations)('that is not met is reported before the conflict of expecting %s', (expected) =>
    withLog(async (store) => {
      const lease = await newLease(store);
      const stream = newStream();
      await store.append(stream, 'none', newEvents(2));
      const fenced = { stream: lease, revision: 0n };
      expect(await store.append(stream, expected, newEvents(1), fenced)).toEqual({ kind: 'fenced' });
      const met = { stream: lease, revision: 1n };
      const conflict = { kind: 'conflict', actual: 1n };
      expect(await store.append(stream, expected, newEvents(1), met)).toEqual(conflict);
      expect(await readStream(store, stream)).toHaveLength(2);
    })(),
  );

  test(
    'that is not met fails one of several concurrent appends, and an append to the stream of the condition fences the next one',
    withLog(async (store, open) => {
      const lease = await newLease(store);
      const held = { stream: lease, revision: 1n };
      const results = await Promise.all([
        store.append(newStream(), 'none', newEvents(2), held),
        store.append(newStream(), 'none', newEvents(2), { ...held, revision: 0n }),
        store.append(newStream(), 'none', newEvents(2)),
      ]);
      expect(results.map(({ kind }) => kind)).toEqual(['appended', 'fenced', 'appended']);
      const other = await open();
      expect(await other.append(lease, 1n, newEvents(1))).toMatchObject({ kind: 'appended' });
      expect(await store.append(newStream(), 'none', newEvents(1), held)).toEqual({ kind: 'fenced' });
      expect(await readAll(store)).toHaveLength(7);
    }),
  );

  test(
    'separates the appends before a claim from those after it, in any race',
    withLog(async (store, open) => {
      const lease = await newLease(store);
      const rival = await open();
      const streams = Array.from({ length: 40 }, newStream);
      const held = { stream: lease, revision: 1n };
      const appends = streams.map((stream) => store.append(stream, 'none', newEvents(2), held));
      const claimed = await rival.append(lease, 1n, newEvents(1));
      const late = store.append(newStream(), 'none', newEvents(1), held);
      const results = await Promise.all(appends);
      expect(await late).toEqual({ kind: 'fenced' });
      const claim = claimed.kind === 'appended' ? claimed.position : -1n;
      for (const [n, result] of results.entries()) {
        const stored = await readStream(store, streams[n] as string);
        expect(stored).toHaveLength(result.kind === 'appended' ? 2 : 0);
        for (const { position } of stored) expect(position).toBeLessThan(claim);
      }
    }),
  );
};

const describeIgnored = (withLog: WithLog): void => {
  test(
    'that is not met is ignored',
    withLog(async (store) => {
      const stream = newStream();
      const condition = { stream: newStream(), revision: 0n };
      expect(await store.append(stream, 'none', newEvents(1), condition)).toMatchObject({ kind: 'appended' });
      expect(await readStream(store, stream)).toHaveLength(1);
    }),
  );
};

const describeRetries = (withLog: WithLog): void => {
  test(
    'is not checked for the retry of a stored append: it resolves as the first one',
    withLog(async (store, open) => {
      const lease = await newLease(store);
      const held = { stream: lease, revision: 1n };
      const stream = newStream();
      const created = newEvents(2);
      const changed = newEvents(1);
      const first = await store.append(stream, 'none', created, held);
      const second = await store.append(stream, 1n, changed, held);
      await store.append(lease, 1n, newEvents(1));
      for (const retrying of [store, await open()]) {
        expect(await retrying.append(stream, 'none', created, held)).toEqual(first);
        expect(await retrying.append(stream, 1n, changed, held)).toEqual(second);
        expect(await retrying.append(stream, 'any', changed, { ...held, revision: 0n })).toEqual(second);
      }
      expect(ids(await readStream(store, stream))).toEqual(ids([...created, ...changed]));
    }),
  );
};

/** Creates a stream of two events. */
const newLease = async (store: EventStore): Promise<string> => {
  const lease = newStream();
  await store.append(lease, 'none', newEvents(2));
  return lease;
};
