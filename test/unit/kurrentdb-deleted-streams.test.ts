import { afterEach, describe, expect, test } from 'vitest';
import { identifyLog, identityOfLog } from '../../services/fleet/log-identity.ts';
import type { Damage, EventStore, ExpectedRevision } from '../../shared/event-store/event-store.ts';
import { collect, ids, newEvents, readAll, readStream } from '../contract/event-store-fixtures.ts';
import { type KurrentDbWorld, startWorld, streamOf, type WorldOptions } from './kurrentdb-world.ts';

let world: KurrentDbWorld;
afterEach(() => world.end());

/** Starts a world with a stream of three events that this process wrote. */
const start = async (options: WorldOptions = {}) => {
  world = await startWorld({ ...options, store: { giveUpAfterMs: 300, ...options.store } });
  const stream = streamOf();
  const events = newEvents(3);
  await world.store.append(stream, 'none', events);
  return { ...world, stream, events, log: world.double.log };
};

const damages = async (store: EventStore): Promise<readonly Damage[]> => {
  const found: Damage[] = [];
  for await (const damage of store.findDamage()) found.push(damage);
  return found;
};

const expectations: readonly ExpectedRevision[] = ['any', 'none', 2n];

describe.each([
  ['BatchAppend', {}],
  ['AppendRecords', { server: '26.1' }],
] as const)('with %s', (_, abilities) => {
  describe('a stream that was soft-deleted on the server', () => {
    test('is empty until it is written to, and then begins after the deleted events', async () => {
      const { store, log, stream, open } = await start(abilities);
      log.delete(stream);
      expect(await readStream(store, stream)).toEqual([]);
      expect(await readStream(open(), stream, 1n)).toEqual([]);
      const events = newEvents(2);
      expect(await open().append(stream, 'none', events)).toMatchObject({ kind: 'appended', revision: 4n });
      const stored = await readStream(store, stream);
      expect(ids(stored)).toEqual(ids(events));
      expect(stored.map(({ revision }) => revision)).toEqual([3n, 4n]);
    });

    test.each(expectations)(
      'takes an append that expects %s, from its writer and from others',
      async (expected) => {
        const { store, log, stream, open } = await start(abilities);
        const condition = { stream: 'varve.lease', revision: 0n };
        await store.append(condition.stream, 'none', newEvents(1));
        log.delete(stream);
        const appended = await store.append(stream, expected, newEvents(1), condition);
        expect(appended).toMatchObject({ kind: 'appended', revision: 3n });
        log.delete(stream);
        const next = typeof expected === 'bigint' ? 3n : expected;
        expect(await open().append(stream, next, newEvents(1), condition)).toMatchObject({ revision: 4n });
      },
    );

    test('takes an append of a process that did not see its last events', async () => {
      const { store, log, stream, open } = await start(abilities);
      const condition = { stream: 'varve.lease', revision: 0n };
      await store.append(condition.stream, 'none', newEvents(1));
      await open().append(stream, 2n, newEvents(1));
      log.delete(stream);
      const appended = await store.append(stream, 'any', newEvents(1), condition);
      expect(appended).toMatchObject({ kind: 'appended', revision: 4n });
    });
  });

  describe('a stream whose events all were truncated on the server', () => {
    test.each(['any', 2n] as const)(
      'takes an append that expects %s at its next revision',
      async (expected) => {
        const { log, stream, open } = await start(abilities);
        log.setMetadata(stream, { truncateBefore: 3n });
        const store = open();
        expect(await readStream(store, stream)).toEqual([]);
        expect(await store.append(stream, expected, newEvents(1))).toMatchObject({
          kind: 'appended',
          revision: 3n,
        });
        expect(await store.append(stream, 'any', newEvents(1))).toMatchObject({ revision: 4n });
      },
    );

    test('answers its revision to an append that expects no stream', async () => {
      const { log, stream, open } = await start(abilities);
      log.setMetadata(stream, { truncateBefore: 3n });
      expect(await open().append(stream, 'none', newEvents(1))).toEqual({ kind: 'conflict', actual: 2n });
    });
  });
});

describe('a truncated stream', () => {
  test.each([
    ['$tb', { truncateBefore: 1n }],
    ['$maxCount', { maxCount: 2 }],
  ])('begins later because of its %s, and its revisions stay', async (_, metadata) => {
    const { store, log, stream, events } = await start();
    log.setMetadata(stream, metadata);
    const stored = await readStream(store, stream);
    expect(ids(stored)).toEqual(ids(events.slice(1)));
    expect(stored.map(({ revision }) => revision)).toEqual([1n, 2n]);
    expect(await readStream(store, stream, 2n)).toHaveLength(1);
    expect(await store.append(stream, 2n, newEvents(1))).toMatchObject({ revision: 3n });
  });

  test('with more events than a page is read completely', async () => {
    const { store, log, stream } = await start();
    await store.append(stream, 2n, newEvents(700));
    log.setMetadata(stream, { truncateBefore: 100n });
    expect(await readStream(store, stream)).toHaveLength(603);
  });

  test('refuses to give a repeated append of truncated events the position of another event', async () => {
    const { store, log, stream, events, double, troubles } = await start();
    log.setMetadata(stream, { truncateBefore: 3n });
    await store.append(stream, 2n, newEvents(1));
    await expect(store.append(stream, 'none', events)).rejects.toThrow(
      `revision 2 of ${stream} was stored and cannot be read: the stream was deleted or truncated on the server`,
    );
    expect(troubles).toEqual([]);
    expect(double.faults.left()).toBe(0);
  });
});

describe('subscriptions and reads of the log', () => {
  test('return deleted and truncated events until the server scavenges them, and then continue without them', async () => {
    const { store, log, stream, open } = await start();
    const [other, gone] = [streamOf(), streamOf()];
    for (const each of [other, gone]) await store.append(each, 'none', newEvents(3));
    const live = collect(store);
    await live.until(9);
    log.setMetadata(stream, { maxCount: 1 });
    log.delete(other);
    log.tombstone(gone);
    expect(await readAll(open())).toHaveLength(9);
    log.scavenge();
    await store.append(stream, 2n, newEvents(1));
    await live.until(10);
    const late = collect(open());
    await late.until(3);
    // The server keeps the last event of a deleted stream, and nothing of a tombstoned one.
    expect(late.events.map(({ stream: name, revision }) => [name, revision])).toEqual([
      [stream, 2n],
      [other, 2n],
      [stream, 3n],
    ]);
    expect(ids(await readAll(open()))).toEqual(ids(late.events));
  });

  test('continue from a position whose event was scavenged', async () => {
    const { store, log, stream, open } = await start();
    const [, second] = await readAll(store);
    log.setMetadata(stream, { maxCount: 1 });
    log.scavenge();
    const events = newEvents(1);
    await store.append(stream, 2n, events);
    const late = collect(open(), second?.position);
    await late.until(2);
    expect(ids(late.events).at(-1)).toBe(ids(events)[0]);
    expect(await readAll(open(), second?.position)).toHaveLength(2);
  });
});

test('verify finds the revisions that a scavenge removed, stream by stream', async () => {
  const { store, log, stream } = await start();
  const other = streamOf();
  await store.append(other, 'none', newEvents(3));
  expect(await damages(store)).toEqual([]);
  log.setMetadata(stream, { truncateBefore: 1n });
  log.delete(other);
  expect(await damages(store)).toEqual([]);
  log.scavenge();
  expect(await damages(store)).toMatchObject([
    { stream, revision: 1n, reason: 'revisions 0 to 0 before it are missing from its stream' },
    { stream: other, revision: 2n, reason: 'revisions 0 to 1 before it are missing from its stream' },
  ]);
});

test('a log whose identity was truncated gets another one, and the search for it ends', async () => {
  const { store, log, open } = await start();
  await identifyLog(store, 'varve', false);
  const first = await identityOfLog(store, 'varve');
  log.setMetadata('varve.identity', { truncateBefore: 1n });
  const other = open();
  expect(await identityOfLog(other, 'varve')).toBeUndefined();
  await identifyLog(other, 'varve', false);
  expect(await identityOfLog(store, 'varve')).toMatch(/^[0-9a-f-]{36}$/);
  expect(await identityOfLog(store, 'varve')).not.toBe(first);
});
