import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { EventStore, Trouble } from '../../shared/event-store/event-store.ts';
import {
  type KurrentDbEventStoreOptions,
  openKurrentDbEventStore,
} from '../../shared/event-store/kurrentdb/kurrentdb-event-store.ts';
import { collect, newEvents, readAll } from '../contract/event-store-fixtures.ts';
import { defaultVersion } from '../support/kurrentdb/double-services.ts';
import { type KurrentDbDouble, startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { createTestCertificate, type TestCertificate } from '../support/test-certificate.ts';
import { streamOf } from './kurrentdb-world.ts';

let certificate: TestCertificate;
beforeAll(() => {
  certificate = createTestCertificate();
});
afterAll(() => certificate.remove());

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const troubles: Trouble[] = [];
const open = (url: string, options: Partial<KurrentDbEventStoreOptions> = {}): EventStore => {
  troubles.length = 0;
  const store = openKurrentDbEventStore(url, {
    ...{ space: 'varve', onTrouble: (trouble) => void troubles.push(trouble), giveUpAfterMs: 5_000 },
    ...options,
  });
  opened.push(store);
  return store;
};
const startDouble = async (options: Parameters<typeof startKurrentDbDouble>[0]): Promise<KurrentDbDouble> => {
  const double = await startKurrentDbDouble(options);
  opened.push({ close: double.stop });
  return double;
};

const users = {
  varve: { password: 'secret', readsAll: true, writes: true },
  writer: { password: 'secret', readsAll: false, writes: true },
  reader: { password: 'secret', readsAll: true, writes: false },
};
const withTls = (port: number, user = '') =>
  `kurrentdb://${user}localhost:${port}?tlsCAFile=${encodeURIComponent(certificate.authorityFile)}`;

describe('a refusal of the server is reported at once, with user and remedy', () => {
  const startTls = () => startDouble({ tls: certificate, users });

  test('a wrong password', async () => {
    const { port } = await startTls();
    const store = open(withTls(port, 'varve:guess@'));
    const sentence =
      /kurrentdb:\/\/\*\*\*@localhost:\d+.* knows no user varve with this password: check both/;
    await expect(store.lastPosition()).rejects.toThrow(sentence);
    await expect(store.append(streamOf(), 'none', newEvents(1))).rejects.toThrow(sentence);
    await expect(collect(store).subscription.done).rejects.toThrow(sentence);
    expect(troubles).toEqual([]);
  });

  test('no credentials', async () => {
    const { port } = await startTls();
    await expect(open(withTls(port)).lastPosition()).rejects.toThrow(
      /needs a user: put user and password in the address/,
    );
  });

  test('a user without read on $all', async () => {
    const { port } = await startTls();
    const store = open(withTls(port, 'writer:secret@'));
    const sentence =
      /user writer may not read \$all at .*: make the user an admin, or add it to the ACL of \$all/;
    await expect(store.lastPosition()).rejects.toThrow(sentence);
    await expect(readAll(store)).rejects.toThrow(sentence);
    await expect(collect(store).subscription.done).rejects.toThrow(sentence);
    expect(await store.append(streamOf(), 'none', newEvents(1))).toMatchObject({ kind: 'appended' });
  });

  test('a user who may not append', async () => {
    const { port } = await startTls();
    const store = open(withTls(port, 'reader:secret@'));
    await expect(store.append(streamOf(), 'none', newEvents(1))).rejects.toThrow(
      /user reader may not write at .*: make the user an admin, or give it \$w/,
    );
    expect(await readAll(store)).toEqual([]);
  });
});

describe('a server that cannot be reached is diagnosed', () => {
  test('an untrusted certificate: at once, and it is not retried', async () => {
    const { port } = await startDouble({ tls: certificate });
    const store = open(`kurrentdb://localhost:${port}`, { giveUpAfterMs: 60_000 });
    await expect(store.lastPosition()).rejects.toThrow(
      /the certificate of localhost:\d+ is not trusted .*name the file of its authority with tlsCAFile/,
    );
    expect(troubles[0]).toMatchObject({ operation: 'read of the log', attempt: 1 });
  });

  test('a plain address of a server with TLS', async () => {
    const { port } = await startDouble({ tls: certificate });
    const store = open(`kurrentdb://localhost:${port}?tls=false`, { giveUpAfterMs: 60_000 });
    await expect(store.lastPosition()).rejects.toThrow(
      /the server at localhost:\d+ needs TLS: omit tls=false/,
    );
  });

  test('a TLS address of a server without it', async () => {
    const { port } = await startDouble({});
    const store = open(`kurrentdb://localhost:${port}`, { giveUpAfterMs: 60_000 });
    await expect(store.lastPosition()).rejects.toThrow(
      /the server at localhost:\d+ has no TLS: add tls=false/,
    );
  });

  test('no server listens: the first failure says so, and the store retries', async () => {
    const server = createServer().listen(0);
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const store = open(`kurrentdb://localhost:${port}?tls=false`, { giveUpAfterMs: 3_000 });
    const failing = expect(store.lastPosition()).rejects.toThrow(
      /read of the log failed: no server listens at localhost:\d+/,
    );
    while (troubles.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(troubles[0]).toMatchObject({
      attempt: 1,
      error: { message: expect.stringMatching(/^no server listens/) },
    });
    await failing;
    expect(troubles.length).toBeGreaterThan(1);
  });

  test('a host name that does not resolve', async () => {
    const store = open('kurrentdb://no-such-host.invalid:2113?tls=false', { giveUpAfterMs: 300 });
    await expect(store.lastPosition()).rejects.toThrow(
      /the name of no-such-host.invalid:2113 cannot be resolved|cannot be reached/,
    );
  });

  test('all nodes of a cluster: reported before the first call has failed', async () => {
    const store = open('kurrentdb://localhost:1,localhost:2?tls=false', {
      giveUpAfterMs: 1_500,
      deadlineMs: 400,
    });
    await expect(store.lastPosition()).rejects.toThrow(
      /no server listens at localhost:1: .*; no server listens at localhost:2: /,
    );
    expect(troubles[0]).toMatchObject({ operation: 'search for a node' });
  });

  test('an IP address with TLS is refused before anything is sent', () => {
    expect(() => open('kurrentdb://user:secret@10.1.2.3:2113')).toThrow(
      /^(?!.*secret)cannot use the event store .*TLS needs a host name, got the IP address 10\.1\.2\.3: use a name/,
    );
  });
});

describe('checks of the server at start', () => {
  test('its version, the limit of an append, and that the user may not append; nothing is written', async () => {
    const double = await startDouble({ tls: certificate, users, maxAppendSize: 1_048_576 });
    const [version, limit] = (await open(withTls(double.port, 'varve:secret@')).check?.()) ?? [];
    expect(version).toBe(`version ${defaultVersion()}.0`);
    expect(limit).toMatch(
      /^accepts at most 1048576 bytes in one append: larger entries are refused with 413/,
    );
    const [, refusal] = (await open(withTls(double.port, 'reader:secret@')).check?.()) ?? [];
    expect(refusal).toMatch(/user reader may not write at /);
    await expect(open(withTls(double.port, 'writer:secret@')).check?.()).rejects.toThrow(
      /user writer may not read \$all/,
    );
    expect([...double.log.records].filter(({ stream }) => stream.startsWith('varve.'))).toEqual([]);
  });

  test('that it is too old', async () => {
    const { url } = await startDouble({ version: '21.10.9' });
    await expect(open(url).check?.()).rejects.toThrow(
      /runs version 21\.10\.9: Varve needs KurrentDB, or EventStoreDB 22\.10/,
    );
  });
});
