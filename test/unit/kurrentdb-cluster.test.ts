import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import {
  type KurrentDbEventStoreOptions,
  openKurrentDbEventStore,
} from '../../shared/event-store/kurrentdb/kurrentdb-event-store.ts';
import { collect, ids, newEvents, readAll, readStream } from '../contract/event-store-fixtures.ts';
import { type KurrentDbCluster, startKurrentDbCluster } from '../support/kurrentdb/kurrentdb-cluster.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { streamOf } from './kurrentdb-world.ts';

const run = promisify(execFile);

let cluster: KurrentDbCluster;
const stores: EventStore[] = [];
const start = async (options: Partial<KurrentDbEventStoreOptions> = {}) => {
  cluster = await startKurrentDbCluster();
  return open(options);
};
const open = (options: Partial<KurrentDbEventStoreOptions> = {}, url = cluster.url) => {
  const store = openKurrentDbEventStore(url, { space: 'varve', ...options });
  stores.push(store);
  return store;
};
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await cluster.stop();
});

const rejections: unknown[] = [];
process.on('unhandledRejection', (reason) => rejections.push(reason));
afterEach(() => expect(rejections).toEqual([]));

const leaderOf = ({ leader }: KurrentDbCluster) => {
  const node = leader();
  if (node === undefined) throw new Error('the cluster has no leader');
  return node;
};

/** Appends to a stream, reads it, and asks for the log's last position. */
const useAll = async (store: EventStore, stream: string) => {
  await store.append(stream, 'any', newEvents(1));
  await readStream(store, stream);
  await store.lastPosition();
};

describe('a leader node that never comes back', () => {
  test('appends, reads and subscriptions continue with the next leader, and a store that is opened then works', async () => {
    const store = await start();
    const stream = streamOf();
    const subscriber = collect(store);
    await useAll(store, stream);
    await subscriber.until(1);
    await cluster.kill(leaderOf(cluster));
    await useAll(store, stream);
    await useAll(open(), stream);
    await subscriber.until(3);
    expect(subscriber.events).toEqual(await readAll(store));
  });

  test('what a read found is read again from a leader node, even if the address names only a follower', async () => {
    const store = await start();
    const stream = streamOf();
    const [, follower] = cluster.nodes;
    const other = open({}, `kurrentdb://127.0.0.1:${follower?.gate.port}?tls=false`);
    await useAll(store, stream);
    expect(await readStream(other, stream)).toHaveLength(1);
    expect(follower?.double.calls.read).toBeGreaterThan(0);
  });
});

test(
  'the store leaves a leader node that stops answering without closing its connections',
  takesMinutes('a silent leading node'),
  async () => {
    const store = await start({ deadlineMs: 500 });
    const stream = streamOf();
    const subscriber = collect(store);
    await useAll(store, stream);
    await subscriber.until(1);
    cluster.freeze(leaderOf(cluster));
    await useAll(store, stream);
    await subscriber.until(2);
    expect(ids(subscriber.events)).toEqual(ids(await readAll(store)));
  },
);

test(
  'a subscription whose own node stops answering is started again, though appends and reads still work',
  takesMinutes('nodes that are frozen'),
  async () => {
    const store = await start({ deadlineMs: 500 });
    const other = open({ deadlineMs: 500 });
    const subscriber = collect(store);
    await other.append(streamOf(), 'none', newEvents(1));
    await subscriber.until(1);
    const [first] = cluster.nodes;
    cluster.freeze(first as NonNullable<typeof first>);
    // The subscriber's store only sends periodic requests to the frozen node.
    await other.append(streamOf(), 'none', newEvents(1));
    await subscriber.until(2);
  },
);

const majorityGoneMs = Number(process.env['VARVE_NO_MAJORITY_MS'] ?? 2_000);
test('without a majority nothing ends; afterwards everything is there and continues', {
  ...takesMinutes('a cluster without a majority'),
  timeout: majorityGoneMs + 180_000,
}, async () => {
  const troubles: string[] = [];
  const store = await start({
    deadlineMs: 500,
    giveUpAfterMs: 600_000,
    onTrouble: ({ error }) => troubles.push(error.message),
  });
  const stream = streamOf();
  const subscriber = collect(store);
  await useAll(store, stream);
  const [first, second] = cluster.nodes as [
    KurrentDbCluster['nodes'][number],
    KurrentDbCluster['nodes'][number],
  ];
  await cluster.kill(first);
  await cluster.kill(second);
  const appending = store.append(stream, 'any', newEvents(1));
  const reading = store.lastPosition();
  await delay(majorityGoneMs);
  await expect.poll(() => troubles.length).toBeGreaterThan(2);
  const sentence = /^no node of .* is the leader: an election is in progress, or a majority/;
  await expect.poll(() => troubles, { timeout: 50_000 }).toContainEqual(expect.stringMatching(sentence));
  await cluster.revive(first);
  expect(await appending).toMatchObject({ kind: 'appended', revision: 1n });
  await reading;
  await useAll(store, stream);
  await subscriber.until(3);
  expect(subscriber.events).toEqual(await readAll(store));
});

test('with a limit of discovery in the address, calls reject in the end, and no rejection is unhandled', async () => {
  cluster = await startKurrentDbCluster();
  for (const node of cluster.nodes) await cluster.kill(node);
  const store = open(
    { giveUpAfterMs: 300, deadlineMs: 200 },
    `${cluster.url}&maxDiscoverAttempts=2&discoveryInterval=10`,
  );
  const calls = [store.append(streamOf(), 'none', newEvents(1)), store.lastPosition(), readAll(store)];
  const settled = await Promise.allSettled(calls);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  await delay(100);
});

test('without a leader the nodes are asked less and less often, and the next leader is found', {
  ...takesMinutes('a cluster without a leader'),
  timeout: 300_000,
}, async () => {
  cluster = await startKurrentDbCluster();
  const [{ double }] = cluster.nodes as [KurrentDbCluster['nodes'][number]];
  for (const node of cluster.nodes) node.double.follow('nobody');
  const reading = open({ giveUpAfterMs: 60_000 }, `${cluster.url}&discoveryInterval=10`).lastPosition();
  await expect.poll(() => double.calls.gossip).toBeGreaterThan(3);
  await delay(4_000);
  const asked = double.calls.gossip;
  // 400 times without longer pauses.
  expect(asked).toBeLessThan(60);
  await expect.poll(() => double.calls.gossip).toBeGreaterThan(asked + 2);
  for (const node of cluster.nodes) node.double.follow(double);
  await reading;
});

test('a store that was closed stops looking for a node', async () => {
  const store = await start({ giveUpAfterMs: 100, deadlineMs: 100 });
  for (const node of cluster.nodes) await cluster.kill(node);
  await expect(store.lastPosition()).rejects.toThrow(/read of the log failed/);
  await store.close();
  await cluster.revive(cluster.nodes[0] as KurrentDbCluster['nodes'][number]);
  const asked = cluster.nodes[0]?.gate.open();
  await delay(300);
  expect(cluster.nodes[0]?.gate.open()).toBe(asked);
});

test(
  'replaced channels leave no socket, and hardly any memory',
  takesMinutes('replaced channels'),
  async () => {
    const replacements = process.env['VARVE_REPLACEMENTS'] ?? '6';
    cluster = await startKurrentDbCluster();
    const program = 'test/support/kurrentdb/replace-channels.ts';
    const { stdout } = await run(process.execPath, ['--expose-gc', program, cluster.url, replacements]);
    const cost = JSON.parse(stdout) as Readonly<Record<string, number>>;
    console.log(`${replacements} replacements: ${stdout.trim()}`);
    expect(cost['descriptors']).toBeLessThanOrEqual(0);
    expect(cost['megabytes']).toBeLessThan(20);
    expect(cost['heapMegabytes']).toBeLessThan(5);
  },
);
