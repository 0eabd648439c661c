import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openKurrentDbEventStore } from '../../shared/event-store/kurrentdb/kurrentdb-event-store.ts';
import { collect, ids, newEvents, readAll, readStream } from '../contract/event-store-fixtures.ts';
import type { DoubleVersion } from '../support/kurrentdb/double-services.ts';
import {
  type ClusterNode,
  type KurrentDbCluster,
  startKurrentDbCluster,
} from '../support/kurrentdb/kurrentdb-cluster.ts';
import type { KurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { gate, streamOf } from './kurrentdb-world.ts';

/** A deadline that no test reaches: a call on a silent node can only end because the node was left. */
const NEVER_MS = 600_000;

type Nodes = readonly [ClusterNode, ClusterNode, ClusterNode];

/** Addresses of a cluster. A DNS name that resolves to all nodes may lead to the same one each time. */
const ADDRESSES = {
  'each node': ({ url }: KurrentDbCluster) => url,
  'one name': ({ nodes: [first] }: KurrentDbCluster) =>
    `kurrentdb+discover://localhost:${first?.gate.port}?tls=false`,
};

const start = async (server: DoubleVersion, address: keyof typeof ADDRESSES = 'each node') => {
  const cluster = await startKurrentDbCluster({ server });
  onTestFinished(cluster.stop);
  const limits = { deadlineMs: NEVER_MS, giveUpAfterMs: NEVER_MS };
  const store = openKurrentDbEventStore(ADDRESSES[address](cluster), { space: 'varve', ...limits });
  const subscriber = collect(store);
  const stream = streamOf();
  await store.append(stream, 'none', newEvents(1));
  await subscriber.until(1);
  return { cluster, store, subscriber, stream, nodes: cluster.nodes as Nodes };
};

const appendsOf = ({ double: { calls } }: ClusterNode) => calls.appendRecords + calls.batchAppend;
const callOf = (server: DoubleVersion) => (server === '26.1' ? 'appendRecords' : 'batchAppend');
const recordsOf = ({ log }: KurrentDbCluster, stream: string) =>
  [...log.records].filter((record) => record.stream === stream);

describe.each(['24.2', '26.1'] as const)(
  'a cluster of version %s',
  takesMinutes('silent nodes'),
  (server) => {
    test.each(['each node', 'one name'] as const)(
      'calls leave a silent node when the others have another leader (address of %s), and nothing is stored twice',
      async (address) => {
        const { cluster, store, subscriber, stream, nodes } = await start(server, address);
        const [events, more] = [newEvents(2), newEvents(1)];
        cluster.freeze(nodes[0]);
        const appended = store.append(stream, 0n, events);
        const read = store.lastPosition();
        expect(await appended).toMatchObject({ kind: 'appended', revision: 2n });
        await read;
        await subscriber.until(3);
        await cluster.revive(nodes[0]);
        await store.append(stream, 2n, more);
        await subscriber.until(4);
        // The node has answered the calls that it got before.
        await delay(200);
        expect(ids(await readStream(store, stream)).slice(1)).toEqual(ids([...events, ...more]));
        expect(recordsOf(cluster, stream)).toHaveLength(4);
        expect(ids(subscriber.events)).toEqual(ids(await readAll(store)));
        await store.close();
      },
    );

    test('a slow leader is not left', async () => {
      const { store, stream, nodes } = await start(server);
      const held = gate();
      nodes[0].double.faults.next(callOf(server), { kind: 'hold', until: held.passed });
      const before = appendsOf(nodes[0]);
      const appended = store.append(stream, 0n, newEvents(1));
      const asked = nodes[1].double.calls.gossip + nodes[2].double.calls.gossip;
      await expect
        .poll(() => nodes[1].double.calls.gossip + nodes[2].double.calls.gossip, { timeout: 20_000 })
        .toBeGreaterThan(asked + 4);
      held.open();
      expect(await appended).toMatchObject({ kind: 'appended', revision: 1n });
      expect(nodes.map(appendsOf)).toEqual([before + 1, 0, 0]);
      await store.close();
    });

    test('a leader that is named only by others is not believed', async () => {
      const { store, stream, nodes } = await start(server);
      const [first, second, third] = nodes.map(({ double }) => double) as [
        KurrentDbDouble,
        KurrentDbDouble,
        KurrentDbDouble,
      ];
      second.follow(third);
      third.follow(first);
      const held = gate();
      first.faults.next(callOf(server), { kind: 'hold', until: held.passed });
      const appended = store.append(stream, 0n, newEvents(1));
      await expect.poll(() => second.calls.gossip, { timeout: 20_000 }).toBeGreaterThan(2);
      held.open();
      expect(await appended).toMatchObject({ kind: 'appended', revision: 1n });
      expect(nodes.slice(1).map(appendsOf)).toEqual([0, 0]);
      await store.close();
    });
  },
);
