import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EventStore, ExpectedRevision } from '../../shared/event-store/event-store.ts';
import { count } from '../support/takes-minutes.ts';
import {
  ids,
  newEvent,
  newEvents,
  newStream,
  positions,
  readAll,
  readStream,
  type WithLog,
} from './event-store-fixtures.ts';

export const describeAppending = (withLog: WithLog): void => {
  describe('append', () => {
    describeExpectedRevisions(withLog);
    describeConcurrency(withLog);
    describeRetries(withLog);
    describeRefusals(withLog);
  });
};

const describeExpectedRevisions = (withLog: WithLog): void => {
  test(
    'resolves with revision and position of the last event, revisions counting from 0n',
    withLog(async (store) => {
      const stream = newStream();
      const first = await store.append(stream, 'none', newEvents(3));
      const second = await store.append(stream, 2n, newEvents(1));
      const stored = await readStream(store, stream);
      expect(stored.map((event) => event.revision)).toEqual([0n, 1n, 2n, 3n]);
      expect(first).toEqual({ kind: 'appended', revision: 2n, position: stored[2]?.position });
      expect(second).toEqual({ kind: 'appended', revision: 3n, position: stored[3]?.position });
      expect(await store.lastPosition()).toBeGreaterThanOrEqual(stored[3]?.position ?? 0n);
    }),
  );

  const onMissing: [ExpectedRevision, boolean][] = [
    ['none', true],
    ['any', true],
    [0n, false],
    [-1n, false],
    [7n, false],
  ];
  test.each(onMissing)('on a stream that does not exist: expecting %s is met: %s', (expected, met) =>
    withLog(async (store) => {
      const stream = newStream();
      const result = await store.append(stream, expected, newEvents(2));
      expect(result).toMatchObject(
        met ? { kind: 'appended', revision: 1n } : { kind: 'conflict', actual: undefined },
      );
      expect(await readStream(store, stream)).toHaveLength(met ? 2 : 0);
    })(),
  );

  const onTwo: [ExpectedRevision, boolean][] = [
    ['any', true],
    [1n, true],
    ['none', false],
    [0n, false],
    [2n, false],
    [-1n, false],
    [2n ** 63n, false],
  ];
  test.each(onTwo)('on a stream of two events: expecting %s is met: %s', (expected, met) =>
    withLog(async (store) => {
      const stream = newStream();
      await store.append(stream, 'none', newEvents(2));
      const result = await store.append(stream, expected, newEvents(2));
      expect(result).toMatchObject(
        met ? { kind: 'appended', revision: 3n } : { kind: 'conflict', actual: 1n },
      );
      expect(await readStream(store, stream)).toHaveLength(met ? 4 : 2);
    })(),
  );
};

const describeConcurrency = (withLog: WithLog): void => {
  test(
    'exactly one of concurrent appends with the same expected revision succeeds, on one store and on two',
    withLog(async (store, open) => {
      const other = await open();
      const stream = newStream();
      let expected: ExpectedRevision = 'none';
      for (let round = 0; round < 10; round += 1) {
        const rivals = [store, store, other, store, other, other];
        const results = await Promise.all(
          rivals.map((rival) => rival.append(stream, expected, newEvents(2))),
        );
        const revision = BigInt(round) * 2n + 1n;
        expect(results.filter((result) => result.kind === 'appended')).toHaveLength(1);
        for (const result of results) {
          expect(result).toMatchObject(result.kind === 'appended' ? { revision } : { actual: revision });
        }
        expected = revision;
      }
      expect((await readStream(store, stream)).map((event) => event.revision)).toEqual(range(20));
    }),
  );

  test(
    'a conflict of one append does not affect concurrent appends',
    withLog(async (store) => {
      const [one, two, three] = [newStream(), newStream(), newStream()];
      const results = await Promise.all([
        store.append(one, 'none', newEvents(2)),
        store.append(two, 5n, newEvents(2)),
        store.append(three, 'none', newEvents(2)),
        store.append(one, 1n, newEvents(1)),
      ]);
      expect(results.map((result) => result.kind)).toEqual(['appended', 'conflict', 'appended', 'appended']);
      expect(await readAll(store)).toHaveLength(5);
      expect(await readStream(store, one)).toHaveLength(3);
    }),
  );

  test(
    'concurrent appends to many streams are all stored, each complete and in order',
    withLog(async (store) => {
      const appends = Array.from({ length: 60 }, (_, n) => ({
        stream: newStream(),
        events: newEvents((n % 5) + 1),
      }));
      await Promise.all(appends.map(({ stream, events }) => store.append(stream, 'none', events)));
      const all = await readAll(store);
      for (const { stream, events } of appends) {
        const stored = all.filter((event) => event.stream === stream);
        expect(ids(stored)).toEqual(ids(events));
        expect(stored.map((event) => event.revision)).toEqual(range(events.length));
      }
      expect(all).toHaveLength(appends.reduce((sum, { events }) => sum + events.length, 0));
    }),
  );
};

const describeRetries = (withLog: WithLog): void => {
  test(
    'a repeated append resolves as the first one and writes nothing, also after later appends and from another store',
    withLog(async (store, open) => {
      const stream = newStream();
      const created = newEvents(2);
      const changed = newEvents(3);
      const first = await store.append(stream, 'none', created);
      const second = await store.append(stream, 1n, changed);
      await store.append(newStream(), 'any', newEvents(4));
      await store.append(stream, 4n, newEvents(1));
      const other = await open();
      for (const retrying of [store, other]) {
        expect(await retrying.append(stream, 'none', created)).toEqual(first);
        expect(await retrying.append(stream, 1n, changed)).toEqual(second);
        expect(await retrying.append(stream, 5n, changed)).toEqual(second);
      }
      expect(await readStream(store, stream)).toHaveLength(6);
      expect(await readAll(store)).toHaveLength(10);
    }),
  );

  test.each(['none', 'any'] as const)(
    'the same append twice at the same time, expecting %s, is stored once',
    (expected) =>
      withLog(async (store) => {
        const stream = newStream();
        const events = newEvents(2);
        const [first, second] = await Promise.all([
          store.append(stream, expected, events),
          store.append(stream, expected, events),
        ]);
        expect(first).toMatchObject({ kind: 'appended', revision: 1n });
        expect(second).toEqual(first);
        expect(ids(await readAll(store))).toEqual(ids(events));
      })(),
  );

  test(
    'an id of another stream never makes an append a retry',
    withLog(async (store) => {
      const [one, two] = [newStream(), newStream()];
      const event = newEvent();
      await store.append(one, 'none', [event]);
      const outcome = await store.append(two, 'none', [event]).then(
        (result) => result.kind,
        () => 'rejected',
      );
      expect(await readStream(store, two)).toHaveLength(outcome === 'appended' ? 1 : 0);
      expect(await readStream(store, one)).toHaveLength(1);
    }),
  );

  test(
    'an append of which only some events are stored is not a retry and writes nothing',
    withLog(async (store) => {
      const stream = newStream();
      const [a, b, c] = [newEvent(), newEvent(), newEvent()];
      await store.append(stream, 'none', [a, b]);
      for (const events of [
        [b, c],
        [c, a],
        [b, a],
      ]) {
        const outcome = await store.append(stream, 'none', events).then(
          (result) => result.kind,
          () => 'rejected',
        );
        expect(outcome).toMatch(/conflict|rejected/);
      }
      expect(ids(await readStream(store, stream))).toEqual(ids([a, b]));
    }),
  );
};

const describeRefusals = (withLog: WithLog): void => {
  test(
    'rejects an empty append, an id that is not a UUID and data that is not JSON, and continues',
    withLog(async (store) => {
      const stream = newStream();
      await expect(store.append(stream, 'any', [])).rejects.toThrow(/at least one event/);
      await expect(store.append(stream, 'any', [newEvent({}, 'seven')])).rejects.toThrow(
        /"seven" is not a UUID/,
      );
      await expect(store.append(stream, 'any', [newEvent(() => undefined)])).rejects.toThrow(
        /not a JSON value/,
      );
      await expect(store.append(stream, 'any', [newEvent(), newEvent({ n: 1n })])).rejects.toThrow(/BigInt/);
      expect(await readStream(store, stream)).toEqual([]);
      expect(await store.append(stream, 'none', [newEvent()])).toMatchObject({
        kind: 'appended',
        revision: 0n,
      });
    }),
  );

  test(
    'an event is stored as it was at the call, also if its writer changes it afterwards',
    withLog(async (store) => {
      const stream = newStream();
      const data = { name: 'before' };
      const appended = store.append(stream, 'none', [newEvent(data)]);
      data.name = 'after';
      await appended;
      expect((await readStream(store, stream))[0]?.data).toEqual({ name: 'before' });
    }),
  );

  test(
    'random appends have the same results and log as a list in memory',
    withLog(async (store) => {
      await fc.assert(
        fc.asyncProperty(appendSequence, (steps) => agreesWithModel(store, steps)),
        { numRuns: count(40, 15) },
      );
    }),
  );
};

type Step = {
  readonly stream: number;
  readonly expected: 'none' | 'any' | number;
  readonly events: number;
  readonly retry: boolean;
};

const appendSequence = fc.array(
  fc.record({
    stream: fc.nat(2),
    /** A number is an offset from the actual revision, so 0 is the correct expectation. */
    expected: fc.oneof(
      fc.constant('none' as const),
      fc.constant('any' as const),
      fc.integer({ min: -1, max: 1 }),
      fc.constant(0),
    ),
    events: fc.integer({ min: 1, max: 3 }),
    retry: fc.boolean(),
  }),
  { minLength: 1, maxLength: 15 },
);

/** Executes the steps on the store and on a list of ids per stream, and compares both. */
const agreesWithModel = async (store: EventStore, steps: readonly Step[]): Promise<void> => {
  const streams = [newStream(), newStream(), newStream()];
  const model: string[][] = [[], [], []];
  const start = await store.lastPosition();
  for (const step of steps) {
    const stream = streams[step.stream] as string;
    const known = model[step.stream] as string[];
    const actual = known.length === 0 ? undefined : BigInt(known.length - 1);
    const expected =
      typeof step.expected === 'number' ? (actual ?? -1n) + BigInt(step.expected) : step.expected;
    const isMet = expected === 'any' || (expected === 'none' ? actual === undefined : expected === actual);
    const events = newEvents(step.events);
    const result = await store.append(stream, expected, events);
    if (isMet) known.push(...ids(events));
    const revision = BigInt(known.length - 1);
    expect(result).toMatchObject(isMet ? { kind: 'appended', revision } : { kind: 'conflict', actual });
    if (isMet && step.retry) expect(await store.append(stream, expected, events)).toEqual(result);
  }
  for (const [n, stream] of streams.entries()) expect(ids(await readStream(store, stream))).toEqual(model[n]);
  const log = await readAll(store, start, 2);
  expect(ids(log).toSorted()).toEqual(model.flat().toSorted());
  expect(positions(log)).toEqual(positions(log).toSorted((a, b) => (a < b ? -1 : 1)));
};

const range = (count: number): bigint[] => Array.from({ length: count }, (_, n) => BigInt(n));
