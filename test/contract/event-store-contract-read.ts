import { describe, expect, test } from 'vitest';
import {
  type ContractSkips,
  ids,
  newEvent,
  newEvents,
  newStream,
  positions,
  readAll,
  readStream,
  type WithLog,
} from './event-store-fixtures.ts';

export const describeReading = (withLog: WithLog, skips: ContractSkips): void => {
  describe('read', () => {
    describeFidelity(withLog, skips);
    describeStreams(withLog);
    describeWholeLog(withLog);
  });
};

const describeFidelity = (withLog: WithLog, { largeAppends }: ContractSkips): void => {
  test(
    'an event is read with all its members, from stream and log',
    withLog(async (store) => {
      const stream = newStream();
      const metadata = {
        schemaVersion: 1,
        at: '2026-03-04T05:06:07.089Z',
        epoch: 12,
        actor: { kind: 'token' as const, id: '7', name: 'writer' },
        via: 'update',
        traceId: '0af7651916cd43dd8448eb211c80319c',
        correlationId: 'c-1',
        causationId: 'c-0',
      };
      const event = { ...newEvent({ values: { a: [1, 2.5, null, true, { b: '' }] } }), metadata };
      const result = await store.append(stream, 'none', [event]);
      const stored = {
        ...event,
        metadata: { ...metadata, digest: expect.stringMatching(/^[\w-]{43}$/) },
        stream,
        revision: 0n,
        position: result.kind === 'appended' ? result.position : undefined,
      };
      const [found] = await readStream(store, stream);
      expect(found).toMatchObject(stored);
      expect(await readAll(store)).toEqual([found]);
    }),
  );

  const texts = [
    '日本語 — Ünïcödé 🦊👩‍👩‍👧',
    'nul \u0000 tab \t quote " back \\',
    'lone \ud800 surrogate',
    '\u2028\u2029',
    "'; DROP TABLE event",
  ];
  test.each(texts)('text survives: %j', (text) =>
    withLog(async (store) => {
      const stream = newStream();
      await store.append(stream, 'none', [newEvent({ text, [text]: [text] })]);
      expect((await readStream(store, stream))[0]?.data).toEqual({ text, [text]: [text] });
    })(),
  );

  test.each([[null], [0], [''], [false], [[]], ['text']])('data may be the JSON value %j', (data) =>
    withLog(async (store) => {
      const stream = newStream();
      await store.append(stream, 'none', [newEvent(data)]);
      expect((await readStream(store, stream))[0]?.data).toEqual(data);
    })(),
  );

  test(
    'payloads of 1 MB, twenty in one append, survive in both reads',
    largeAppends === undefined ? {} : { skip: true, meta: { skipReason: largeAppends } },
    withLog(async (store) => {
      const stream = newStream();
      const letter = (n: number) => String.fromCharCode(97 + n);
      const events = Array.from({ length: 20 }, (_, n) => newEvent({ text: letter(n).repeat(1_000_000) }));
      await store.append(stream, 'none', events);
      for (const stored of [await readStream(store, stream), await readAll(store)]) {
        expect(ids(stored)).toEqual(ids(events));
        expect(
          stored.every((event, n) => (event.data as { text: string }).text === letter(n).repeat(1_000_000)),
        ).toBe(true);
      }
    }),
  );
};

const describeStreams = (withLog: WithLog): void => {
  test(
    'a missing stream, an empty log and a read after the end return nothing',
    withLog(async (store) => {
      expect(await readStream(store, newStream())).toEqual([]);
      expect(await readAll(store)).toEqual([]);
      expect(await readAll(store, await store.lastPosition())).toEqual([]);
      const stream = newStream();
      await store.append(stream, 'none', newEvents(2));
      expect(await readStream(store, stream, 2n)).toEqual([]);
      expect(await readStream(store, stream, 2n ** 62n)).toEqual([]);
      expect(await readAll(store, await store.lastPosition())).toEqual([]);
    }),
  );

  test(
    'the history up to each event has another name, which another connection and a log that has grown give too',
    withLog(async (store, open) => {
      await store.append(newStream(), 'none', newEvents(3));
      const at = positions(await readAll(store));
      const namesOf = (each: typeof store) => Promise.all(at.map((position) => each.historyAt(position)));
      const names = await namesOf(store);
      expect(new Set(names).size).toBe(at.length);
      expect(names).not.toContain(undefined);
      await store.append(newStream(), 'none', newEvents(1));
      expect([await namesOf(store), await namesOf(await open())]).toEqual([names, names]);
      for (const nowhere of [0n, 2n ** 62n, 10n ** 20n])
        expect(await store.historyAt(nowhere)).toBe(undefined);
    }),
  );

  test(
    'a stream is read from a revision, including it, also if the stream is long',
    withLog(async (store) => {
      const stream = newStream();
      const events = newEvents(1_300);
      await store.append(stream, 'none', events);
      await store.append(newStream(), 'none', newEvents(3));
      expect(ids(await readStream(store, stream))).toEqual(ids(events));
      expect(ids(await readStream(store, stream, 1n))).toEqual(ids(events.slice(1)));
      expect(ids(await readStream(store, stream, 1_299n))).toEqual(ids(events.slice(-1)));
    }),
  );

  test(
    'streams whose names have the same beginning, or differ only in case, are separate',
    withLog(async (store) => {
      const stream = newStream();
      const names = [stream, `${stream}x`, stream.replace('test', 'TEST'), `${stream}%`, `${stream}é`];
      for (const name of names) await store.append(name, 'none', [newEvent({ name })]);
      for (const name of names) {
        expect((await readStream(store, name)).map((event) => event.data)).toEqual([{ name }]);
      }
    }),
  );
};

const describeWholeLog = (withLog: WithLog): void => {
  test(
    'the log is read in order of position, which begins above 0n and strictly increases',
    withLog(async (store) => {
      const streams = [newStream(), newStream()];
      const written: string[] = [];
      for (let n = 0; n < 20; n += 1) {
        const events = newEvents(3);
        await store.append(streams[n % 2] as string, 'any', events);
        written.push(...ids(events));
      }
      const log = await readAll(store);
      expect(ids(log)).toEqual(written);
      expect(positions(log).every((position, n, all) => position > (all[n - 1] ?? 0n))).toBe(true);
    }),
  );

  test(
    'a read from any position returns exactly the events after it',
    withLog(async (store) => {
      await store.append(newStream(), 'none', newEvents(7));
      const log = await readAll(store);
      for (const [n, event] of log.entries()) {
        expect(await readAll(store, event.position, 2)).toEqual(log.slice(n + 1));
      }
    }),
  );

  test(
    'batches are never empty and hold at most batchSize events',
    withLog(async (store) => {
      await store.append(newStream(), 'none', newEvents(23));
      const sizes: number[] = [];
      for await (const batch of store.readAll(0n, { batchSize: 5 })) sizes.push(batch.length);
      expect(sizes.every((size) => size >= 1 && size <= 5)).toBe(true);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(23);
    }),
  );

  test(
    'a reader may stop half-way and write while it reads, and still reads each event once and in order',
    withLog(async (store) => {
      const stream = newStream();
      await store.append(stream, 'none', newEvents(6));
      for await (const batch of store.readAll(0n, { batchSize: 1 })) {
        expect(batch).toHaveLength(1);
        break;
      }
      const seen: string[] = [];
      for await (const batch of store.readAll(0n, { batchSize: 2 })) {
        seen.push(...ids(batch));
        if (seen.length < 6) await store.append(stream, 'any', newEvents(1));
      }
      const log = ids(await readAll(store));
      expect(seen.length).toBeGreaterThanOrEqual(6);
      expect(seen).toEqual(log.slice(0, seen.length));
    }),
  );

  test(
    'a log that is closed and opened again has every acknowledged event, and continues after them',
    withLog(async (store, open) => {
      const stream = newStream();
      const events = newEvents(3);
      const pending = store.append(stream, 'none', events);
      await store.close();
      await store.close();
      expect(await pending).toMatchObject({ kind: 'appended', revision: 2n });
      await expect(store.append(stream, 'any', newEvents(1))).rejects.toThrow(/closed/);
      const reopened = await open();
      const before = await readAll(reopened);
      expect(ids(before)).toEqual(ids(events));
      const result = await reopened.append(stream, 2n, newEvents(1));
      expect(result).toMatchObject({ kind: 'appended', revision: 3n });
      expect(await reopened.lastPosition()).toBeGreaterThan(before.at(-1)?.position ?? 0n);
    }),
  );
};
