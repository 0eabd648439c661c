import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openEventStore } from '../../services/stores/open-event-store.ts';
import { parseAddress } from '../../shared/event-store/kurrentdb/kurrentdb-address.ts';
import { openKurrentDbEventStore } from '../../shared/event-store/kurrentdb/kurrentdb-event-store.ts';
import { collect, newEvents, readAll, readStream } from '../contract/event-store-fixtures.ts';
import { type KurrentDbDouble, startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { openTcpGate } from '../support/kurrentdb/tcp-gate.ts';
import { createTestCertificate, type TestCertificate } from '../support/test-certificate.ts';
import { type KurrentDbWorld, startWorld, streamOf, type WorldOptions } from './kurrentdb-world.ts';

let certificate: TestCertificate;
beforeAll(() => {
  certificate = createTestCertificate();
});
afterAll(() => certificate.remove());

let world: KurrentDbWorld | undefined;
const start = async (options: WorldOptions) => {
  world = await startWorld(options);
  return world;
};
afterEach(async () => {
  await world?.end();
  world = undefined;
});

const credentials = { username: 'varve', password: 'pa:ss/w@rd' };
const inUrl = `${credentials.username}:${encodeURIComponent(credentials.password)}`;

test('a shorter keepAliveInterval notices a proxy that drops bytes before any deadline', async () => {
  const { double, open } = await start({ store: { deadlineMs: 60_000 } });
  const gate = await openTcpGate(double.port);
  try {
    const through = `kurrentdb://127.0.0.1:${gate.port}?tls=false&keepAliveInterval=500&keepAliveTimeout=500`;
    const troubles: string[] = [];
    const store = openKurrentDbEventStore(through, {
      ...{ space: 'varve', deadlineMs: 60_000 },
      onTrouble: ({ error }) => troubles.push(error.message),
    });
    const subscriber = collect(store);
    await open().append(streamOf(), 'none', newEvents(1));
    await subscriber.until(1);
    gate.forget();
    await open().append(streamOf(), 'none', newEvents(1));
    await subscriber.until(2);
    expect(troubles[0]).toContain('Connection dropped');
    await store.close();
  } finally {
    await gate.stop();
  }
});

describe('TLS', () => {
  const trusting = (port: number, user = '') =>
    `kurrentdb://${user}localhost:${port}?tlsCAFile=${encodeURIComponent(certificate.authorityFile)}&discoveryInterval=10`;

  test('with credentials: appends, reads and subscriptions carry them', async () => {
    const options = {
      tls: certificate,
      credentials,
      url: ({ port }) => trusting(port, `${inUrl}@`),
    } satisfies WorldOptions;
    const { store, double } = await start(options);
    const stream = streamOf();
    expect(await store.append(stream, 'none', newEvents(2))).toMatchObject({
      kind: 'appended',
      revision: 1n,
    });
    const subscriber = collect(store);
    await subscriber.until(2);
    expect(await readStream(store, stream)).toEqual(subscriber.events);
    expect(double.calls.append).toBe(0);
    expect(double.calls.batchAppend + double.calls.appendRecords).toBe(1);
  });

  test('without credentials appends are made in the same way', async () => {
    const { store, double } = await start({ tls: certificate, url: ({ port }) => trusting(port) });
    const stream = streamOf();
    const events = newEvents(3);
    const first = await store.append(stream, 'none', events);
    expect(first).toMatchObject({ kind: 'appended', revision: 2n });
    expect(await store.append(stream, 2n, events)).toEqual(first);
    expect(await store.append(stream, 'none', newEvents(1))).toEqual({ kind: 'conflict', actual: 2n });
    double.faults.next('batchAppend', { kind: 'lose-answer' });
    expect(await store.append(stream, 2n, newEvents(1))).toMatchObject({ kind: 'appended', revision: 3n });
    expect(await readStream(store, stream)).toHaveLength(4);
    expect(double.calls).toMatchObject({ append: 0 });
  });

  test('a server with an untrusted certificate gets no requests', async () => {
    const { store, double } = await start({
      tls: certificate,
      url: ({ port }) => `kurrentdb://localhost:${port}?discoveryInterval=10`,
      store: { giveUpAfterMs: 200 },
    });
    await expect(store.append(streamOf(), 'none', newEvents(1))).rejects.toThrow(/append to .* failed/);
    await expect(readAll(store)).rejects.toThrow(/read of the log failed/);
    expect(double.calls).toMatchObject({ append: 0, batchAppend: 0, read: 0 });
  });
});

describe('addresses', () => {
  test.each(['kurrentdb', 'kdb', 'kurrent', 'esdb'])('%s:// reaches the server', async (scheme) => {
    const options = { url: ({ port }) => `${scheme}://127.0.0.1:${port}?tls=false` } satisfies WorldOptions;
    const { store } = await start(options);
    expect(await store.append(streamOf(), 'none', newEvents(1))).toMatchObject({ kind: 'appended' });
    expect(await readAll(store)).toHaveLength(1);
  });

  test('one that is not understood is refused without its password', () => {
    const url = `kurrentdb://${inUrl}@host:notaport`;
    expect(() => parseAddress(url)).toThrow(/cannot use the event store kurrentdb:\/\/\*\*\*@host/);
    expect(() => parseAddress(url)).not.toThrow(/pa(:|%3A)ss/);
  });

  test.each(['nodePreference=follower', 'defaultDeadline=5000', 'throwOnAppendFailure=false'])(
    'one with %s is refused, because that has no effect',
    (parameter) => {
      const url = (given: string) => `kurrentdb://127.0.0.1:2113?tls=false&${given}`;
      expect(() => parseAddress(url(parameter))).toThrow(`${parameter} has no effect: remove it`);
      expect(parseAddress(url('nodePreference=leader')).tls).toBe(false);
    },
  );

  test('openEventStore accepts SQLite files and KurrentDB, and names them in its refusal of other addresses', async () => {
    const { double } = await start({});
    const stores = await Promise.all(
      ['sqlite::memory:', double.url].map((url) => openEventStore(url, { space: 'varve' })),
    );
    for (const store of stores) {
      expect(await store.append(streamOf(), 'none', newEvents(2))).toMatchObject({ revision: 1n });
      expect(await readAll(store)).toHaveLength(2);
      await store.close();
    }
    for (const url of ['', 'sqlite:', 'postgres://user:secret@host/db', 'events.db']) {
      const refusal = expect(openEventStore(url, { space: 'varve' })).rejects;
      await refusal.toThrow(
        /^(?!.*secret).* must be an event store: use sqlite:FILE or kurrentdb:\/\/HOST:PORT/,
      );
    }
  });
});

describe('a cluster', () => {
  test('is found through any of its nodes; when the leader dies, appends and subscriptions continue with the next one', async () => {
    const spare = await startKurrentDbDouble();
    const url = (double: KurrentDbDouble) =>
      `kurrentdb://127.0.0.1:${spare.port},127.0.0.1:${double.port}?tls=false&discoveryInterval=10`;
    const { double: first, store, addNode } = await start({ url });
    const second = await addNode();
    for (const node of [first, second]) node.join(node === first ? [second] : [first]);
    second.follow(first);
    spare.join([first, second]);
    spare.follow(first);

    const stream = streamOf();
    const subscriber = collect(store);
    await store.append(stream, 'none', newEvents(2));
    await subscriber.until(2);
    expect([first, second, spare].map(({ calls }) => calls.batchAppend + calls.appendRecords)).toEqual([
      1, 0, 0,
    ]);

    first.interrupt();
    spare.follow(second);
    second.follow(second);
    await store.append(stream, 1n, newEvents(3));
    await subscriber.until(5);
    expect(subscriber.events).toEqual(await readStream(store, stream));
    expect([second, spare].map(({ calls }) => calls.batchAppend + calls.appendRecords)).toEqual([1, 0]);
    spare.stop();
  });
});
