import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OTHER_CONTENT } from '../../shared/event-store/event-digest.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { openLog } from '../../shared/event-store/sqlite/open-log.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { describeUnreadable } from '../../shared/event-store/unreadable.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { collect, ids, newEvent, newStream, readAll, readStream } from '../contract/event-store-fixtures.ts';

let directory: string;
let store: EventStore;
const open = (decode?: typeof upcast) =>
  openSqliteEventStore(join(directory, 'log.db'), { space: 'varve', ...(decode && { decode }) });

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'varve-log-'));
  store = open();
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('event ids', () => {
  test('belong to one event of the whole log: an append with an id of another stream rejects, its neighbours do not', async () => {
    const [one, two] = [newStream(), newStream()];
    const [taken, fresh, other] = [newEvent(), newEvent(), newEvent()];
    await store.append(one, 'none', [taken]);
    const results = await Promise.allSettled([
      store.append(one, 0n, [other]),
      store.append(two, 'none', [fresh, taken]),
      store.append(two, 'none', [fresh]),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((results[1] as PromiseRejectedResult).reason.message).toBe(
      `event id ${taken.id} is that of revision 0 of ${one}, and this append to ${two} is not its retry`,
    );
    expect(ids(await readAll(store))).toEqual(ids([taken, other, fresh]));
  });

  test('may not be twice in one append', async () => {
    const event = newEvent();
    await expect(store.append(newStream(), 'any', [event, event])).rejects.toThrow(/one event id twice/);
    expect(await readAll(store)).toEqual([]);
  });
});

describe('a log that changes under a store that has it open', () => {
  /** Follows the log until that fails. Resolves to the message of the error. */
  const failureOf = () =>
    store.subscribe(0n, async () => {}).done.then(String, ({ message }) => String(message));
  const file = () => join(directory, 'log.db');

  test.each(['replaced', 'removed'])(
    'is detected if its file is %s: no more events are appended or delivered',
    async (how) => {
      await store.append(newStream(), 'none', [newEvent()]);
      const failed = failureOf();
      copyFileSync(file(), join(directory, 'copy.db'));
      if (how === 'replaced') renameSync(join(directory, 'copy.db'), file());
      else rmSync(file());
      expect(await failed).toContain('was replaced or removed while it was open');
      await expect(store.append(newStream(), 'none', [newEvent()])).rejects.toThrow(
        'was replaced or removed',
      );
    },
  );

  test.each([
    ['cut off', 'DELETE FROM event WHERE position = 2'],
    ['replaced by others', "UPDATE event SET chain = 'another' WHERE position = 2"],
  ])('is noticed if its last events are %s', async (_how, sql) => {
    const stream = newStream();
    await store.append(stream, 'none', [newEvent(), newEvent()]);
    const failed = failureOf();
    await store.append(newStream(), 'none', [newEvent()]);
    const other = openLog(file());
    other.exec(`${sql}; DELETE FROM event WHERE position = 3`);
    other.close();
    expect(await failed).toMatch(/the event at position \d of .* was removed or replaced while it was open/);
  });

  test('continues while another process only appends', async () => {
    const other = open();
    const live = collect(store, 0n);
    for (let n = 0; n < 5; n++) await (n % 2 === 0 ? store : other).append(newStream(), 'none', [newEvent()]);
    await live.until(5);
    await other.close();
  });
});

describe('decode', () => {
  test('is applied to stream, log and live events alike', async () => {
    const decoding = open((stored) => ({ ...stored, type: `read-${stored.type}`, data: [stored.data] }));
    const stream = newStream();
    await decoding.append(stream, 'none', [newEvent({ n: 1 })]);
    const live = collect(decoding, await decoding.lastPosition());
    await decoding.append(stream, 0n, [newEvent({ n: 2 })]);
    await live.until(1);
    const log = await readAll(decoding);
    expect(log.map(({ type, data }) => [type, data])).toEqual([
      ['read-entry-changed', [{ n: 1 }]],
      ['read-entry-changed', [{ n: 2 }]],
    ]);
    expect(await readStream(decoding, stream)).toEqual(log);
    expect(live.events).toEqual(log.slice(1));
    expect((await readAll(store)).map(({ data }) => data)).toEqual([{ n: 1 }, { n: 2 }]);
    await decoding.close();
  });

  test('an event of a newer version is delivered to readers and subscribers, marked with its reason', async () => {
    const decoding = open(upcast);
    const stream = newStream();
    const newer = { ...newEvent(), metadata: { ...newEvent().metadata, schemaVersion: 3 } };
    const live = collect(decoding, 0n);
    await decoding.append(stream, 'none', [newer]);
    await live.until(1);
    const unreadable = { kind: 'newer-version', reason: expect.stringContaining('versions up to 2') };
    expect(await readAll(decoding)).toMatchObject([{ ...newer, unreadable }]);
    expect(live.events).toMatchObject([{ ...newer, unreadable }]);
    expect(describeUnreadable((await readAll(decoding))[0] as StoredEvent)).toMatch(
      `cannot read the event at position 1 (${stream}, revision 0): it is a "entry-changed" of version 3`,
    );
    await decoding.close();
  });

  test('bytes of an event that are not JSON are delivered as text, as damage', async () => {
    const stream = newStream();
    await store.append(stream, 'none', [newEvent({ n: 1 }), newEvent({ n: 2 }), newEvent({ n: 3 })]);
    const file = openLog(join(directory, 'log.db'));
    file.exec("UPDATE event SET data = '{' WHERE revision = 0");
    file.exec('UPDATE event SET metadata = substr(metadata, 2) WHERE revision = 1');
    file.exec("UPDATE event SET metadata = '' WHERE revision = 2");
    file.close();
    expect(await readAll(store)).toMatchObject([
      { data: '{', metadata: { epoch: 0 }, unreadable: { kind: 'damaged', reason: OTHER_CONTENT } },
      { data: { n: 2 }, unreadable: { kind: 'damaged', reason: OTHER_CONTENT } },
      { data: { n: 3 }, unreadable: { kind: 'damaged', metadata: '' } },
    ]);
  });
});

test('a batch size that is not a positive integer is refused', () => {
  for (const batchSize of [0, -1, 1.5, Number.NaN]) {
    expect(() => store.readAll(0n, { batchSize })).toThrow(RangeError);
    expect(() => store.subscribe(0n, async () => undefined, { batchSize })).toThrow(RangeError);
  }
});

test('batches of big events end early, so that a reader never holds hundreds of megabytes', async () => {
  const events = Array.from({ length: 30 }, () => newEvent('x'.repeat(1_000_000)));
  await store.append(newStream(), 'none', events);
  const sizes: number[] = [];
  for await (const batch of store.readAll(0n)) sizes.push(batch.length);
  expect(sizes).toEqual([8, 8, 8, 6]);
});

test('a closed store rejects with a message', async () => {
  await store.close();
  expect(() => store.subscribe(0n, async () => undefined)).toThrow('the event store is closed');
  await expect(store.append(newStream(), 'any', [newEvent()])).rejects.toThrow('the event store is closed');
  await expect(store.lastPosition()).rejects.toThrow();
  await expect(readAll(store)).rejects.toThrow();
});

test('delivers the events of a command together, beyond the size of a batch, from memory and from the file', async () => {
  const command = (at: number, count: number) =>
    Array.from({ length: count }, () => ({
      ...{ id: randomUUID(), type: 'entry-changed', data: {} },
      metadata: { schemaVersion: 1, at: new Date(at).toISOString(), epoch: 0 },
    }));
  const batchesOf = async (from: EventStore) => {
    const sizes: number[] = [];
    const all = Promise.withResolvers<void>();
    const handle = async (events: readonly StoredEvent[]) => {
      sizes.push(events.length);
      if (sizes.reduce((sum, size) => sum + size, 0) === 1_517) all.resolve();
    };
    const subscription = from.subscribe(0n, handle, { batchSize: 10 });
    await Promise.race([all.promise, subscription.done]);
    await subscription.close();
    return sizes;
  };
  await store.append('varve.a-1', 'none', command(1, 8));
  await store.append('varve.a-1', 'any', command(2, 1_500));
  await store.append('varve.a-1', 'any', command(3, 3));
  await store.append('varve.a-2', 'none', command(3, 6));
  const sizes = [1_508, 9];
  expect(await batchesOf(store)).toEqual(sizes);
  const again = open();
  expect(await batchesOf(again)).toEqual(sizes);
  await again.close();
});
