import { afterEach, describe, expect, test } from 'vitest';
import { openKurrentDbEventStore } from '../../shared/event-store/kurrentdb/kurrentdb-event-store.ts';
import { ids, newEvents, readAll } from '../contract/event-store-fixtures.ts';
import { createDoubleLog } from '../support/kurrentdb/double-log.ts';
import { type ClusterNode, startKurrentDbCluster } from '../support/kurrentdb/kurrentdb-cluster.ts';
import { type KurrentDbWorld, startWorld, streamOf } from './kurrentdb-world.ts';

let world: KurrentDbWorld | undefined;
afterEach(() => world?.end());

const VERSIONS = [
  ['24.2', 'batchAppend'],
  ['26.1', 'appendRecords'],
] as const;

describe.each(VERSIONS)('a sequence on version %s is stored once, in its order', (server, call) => {
  const start = async () => {
    const started = await startWorld({ server, log: createDoubleLog({ rememberedIds: 0 }) });
    world = started;
    const appends = Array.from({ length: 300 }, () => ({
      ...{ stream: streamOf(), expected: 'none' as const },
      events: newEvents(1),
    }));
    return { ...started, appends };
  };
  const isInOrder = async ({ store, appends }: Awaited<ReturnType<typeof start>>) => {
    const stored = ids(await readAll(store));
    expect(stored).toEqual(appends.flatMap(({ events }) => ids(events)));
  };

  test('when the answers of its first part are lost', async () => {
    const site = await start();
    const { store, double, appends } = site;
    double.faults.next(call, { kind: 'lose-answer' });
    expect(await store.appendInOrder(appends)).toHaveLength(300);
    await isInOrder(site);
  });

  test('when its connection is cut while it is sent', async () => {
    const site = await start();
    const { store, double, appends } = site;
    double.log.growth.once('written', () => {
      double.interrupt();
      setTimeout(() => double.resume(), 50);
    });
    expect(await store.appendInOrder(appends)).toHaveLength(300);
    await isInOrder(site);
  });

  test('when the leader node dies while it is sent', async () => {
    const cluster = await startKurrentDbCluster({ server, electionMs: 300 });
    const store = openKurrentDbEventStore(cluster.url, { space: 'varve' });
    try {
      const appends = Array.from({ length: 1_500 }, () => ({
        ...{ stream: streamOf(), expected: 'none' as const },
        events: newEvents(1),
      }));
      cluster.log.growth.once('written', () => void cluster.kill(cluster.leader() as ClusterNode));
      expect(await store.appendInOrder(appends)).toHaveLength(1_500);
      expect(ids(await readAll(store))).toEqual(appends.flatMap(({ events }) => ids(events)));
    } finally {
      await store.close();
      await cluster.stop();
    }
  });
});
