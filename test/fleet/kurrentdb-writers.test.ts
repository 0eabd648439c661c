import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startFleet, type TestFleet } from '../support/fleet.ts';
import { type FleetWriters, startFleetWriters } from '../support/fleet-writers.ts';
import type { DoubleVersion } from '../support/kurrentdb/double-services.ts';
import {
  type ClusterNode,
  type KurrentDbCluster,
  startKurrentDbCluster,
} from '../support/kurrentdb/kurrentdb-cluster.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Eight writers through two processes, while nodes of a cluster of three fail. */
const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');
/** Time in which the double finds a new leader, and in which a frozen node is left. */
const ELECTION_MS = 1_000;

type World = {
  readonly server: DoubleVersion;
  readonly cluster: KurrentDbCluster;
  readonly fleet: TestFleet;
  readonly writers: FleetWriters;
};
type Story = {
  readonly name: string;
  readonly electionMs?: number;
  /** Lets nodes fail. Resolves when the cluster has had a leader for some time. */
  readonly fail: (world: World) => Promise<void>;
};

const leadingNode = (cluster: KurrentDbCluster): ClusterNode => {
  const node = cluster.leader();
  if (node === undefined) throw new Error('the cluster has no leader');
  return node;
};

/**
 * Waits for a leader, then for a write. Prints the milliseconds from the leader on. They should be at most 5,000.
 */
const untilWritten = async ({ cluster, writers }: World, notBy?: ClusterNode): Promise<void> => {
  const hasLeader = () => cluster.leader() !== undefined && cluster.leader() !== notBy;
  await expect.poll(hasLeader, { timeout: 30_000, interval: 20 }).toBe(true);
  const started = performance.now();
  await writers.answered(1);
  console.log(`a write ${Math.round(performance.now() - started)} ms after the leader`);
};

const STORIES: readonly Story[] = [
  {
    name: 'the leader is killed for good, then the leading process',
    async fail(world) {
      const { cluster, fleet, writers } = world;
      const node = leadingNode(cluster);
      await cluster.kill(node);
      await untilWritten(world, node);
      await writers.answered(50);
      const leader = await fleet.leader();
      await leader.end('SIGKILL');
      await untilWritten(world);
      await leader.start();
    },
  },
  {
    name: 'the nodes name a dead leader for 4 s',
    electionMs: 4_000,
    async fail(world) {
      const node = leadingNode(world.cluster);
      await world.cluster.kill(node);
      await untilWritten(world, node);
    },
  },
  {
    name: 'the majority is gone for 20 s',
    async fail(world) {
      const [first, second] = world.cluster.nodes as [ClusterNode, ClusterNode];
      await world.cluster.kill(first);
      await world.cluster.kill(second);
      await delay(20_000);
      await world.cluster.revive(first);
      await delay(ELECTION_MS);
      await untilWritten(world);
    },
  },
  { name: 'the leading node is paused for 8 s', fail: (world) => pause(world, 8_000) },
  { name: 'the leading node is paused for 25 s', fail: (world) => pause(world, 25_000) },
];

const pause = async (world: World, ms: number): Promise<void> => {
  const node = leadingNode(world.cluster);
  world.cluster.freeze(node);
  await Promise.all([untilWritten(world, node), delay(ms)]);
  await world.cluster.revive(node);
};

const run = async (server: DoubleVersion, { electionMs = ELECTION_MS, fail }: Story): Promise<void> => {
  const cluster = await startKurrentDbCluster({ server, electionMs });
  onTestFinished(cluster.stop);
  const args = ['--access-key', ACCESS_KEY];
  const fleet = await startFleet({ size: 2, eventStore: cluster.url, arguments: args });
  onTestFinished(fleet.dispose);
  await fleet.leader();
  const writers = startFleetWriters({ members: fleet.members, perMember: 4, name: 'w' });
  const world = { server, cluster, fleet, writers };
  await writers.answered(50);
  await fail(world);
  await writers.answered(100);
  await writers.stop();
  expect(writers.refused).toEqual([]);
  console.log(`${writers.sent.length} writes, the longest waited ${Math.round(writers.longest())} ms`);
  await expectEveryWriteOnce(world);
};

const listOf = async (url: string) => {
  const rows: { key: string; stars: number }[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await fetch(
      `${url}/api/restaurants?sort=id&pagination[pageSize]=100&pagination[page]=${page}`,
    );
    const { data } = (await answer.json()) as { data: typeof rows };
    if (data.length === 0) return rows;
    rows.push(...data);
  }
};

const expectEveryWriteOnce = async ({ cluster, fleet, writers }: World): Promise<void> => {
  const fresh = await startServer({ arguments: ['--event-store', cluster.url, '--access-key', ACCESS_KEY] });
  onTestFinished(fresh.dispose);
  const rows = await listOf(fresh.url);
  const stars = new Map(rows.map((row) => [row.key, row.stars]));
  expect(stars.size).toBe(rows.length);
  const last = new Map(writers.sent.map(({ key, number }) => [key, number]));
  expect(stars).toEqual(last);
  for (const member of fleet.members) {
    await expect.poll(() => listOf(member.server().url), { timeout: 60_000 }).toEqual(rows);
    expect(member.server().output()).not.toMatch(/starting another one|cannot continue/);
    expect(await Promise.race([member.server().exited, delay(0, 'runs')])).toBe('runs');
  }
  expect(repeatedCommands(cluster)).toEqual([]);
};

/** Returns the ids of commands that the log has in two appends. The first event of an append has no cause. */
const repeatedCommands = ({ log }: KurrentDbCluster): readonly string[] => {
  const seen = new Set<string>();
  const repeated: string[] = [];
  for (const { stream, metadata } of log.records) {
    if (!stream.startsWith('varve.') || metadata.length === 0) continue;
    const text = Buffer.from(metadata).toString();
    const [, id] = /"id\\?":\\?"([^"\\]+)\\?",\\?"request/.exec(text) ?? [];
    if (id === undefined || /causationId/.test(text)) continue;
    if (seen.has(id)) repeated.push(id);
    seen.add(id);
  }
  expect(seen.size).toBeGreaterThan(100);
  return repeated;
};

// Both versions at once: a story mostly waits for elections.
describe('eight writers through two processes on three nodes of 24.2, and of 26.1', {
  ...takesMinutes('writers on a cluster of doubles'),
  timeout: 300_000,
}, () => {
  test.each(STORIES)('$name', async (story) => {
    await Promise.all([run('24.2', story), run('26.1', story)]);
  });
});
