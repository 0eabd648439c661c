import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Member, startFleet, type TestFleet } from '../support/fleet.ts';
import type { DoubleVersion } from '../support/kurrentdb/double-services.ts';
import { type KurrentDbCluster, startKurrentDbCluster } from '../support/kurrentdb/kurrentdb-cluster.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');
const FOREIGN = 3_000_000;

type World = { readonly cluster: KurrentDbCluster; readonly fleet: TestFleet };

const start = async (server: DoubleVersion, size: number): Promise<World> => {
  const cluster = await startKurrentDbCluster({ server });
  onTestFinished(cluster.stop);
  const fleet = await startFleet({ size, eventStore: cluster.url, arguments: ['--access-key', ACCESS_KEY] });
  onTestFinished(fleet.dispose);
  return { cluster, fleet };
};

/** Runs a test with two processes on a cluster of each version, at once: it mostly waits. */
const onBoth = (run: (world: World) => Promise<void>) => async () => {
  const onVersion = async (server: DoubleVersion) => run(await start(server, 2));
  await Promise.all([onVersion('24.2'), onVersion('26.1')]);
};

const write = (member: Member, name: string) =>
  fetch(`${member.server().url}/api/restaurants`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    signal: AbortSignal.timeout(45_000),
    body: JSON.stringify({ data: { name, key: name } }),
  });

/** Returns the milliseconds until the member has accepted a write. */
const untilWritten = async (member: Member, name: string): Promise<number> => {
  const started = performance.now();
  for (;;) {
    const answer = await write(member, name).catch(() => undefined);
    if (answer?.status === 201) return performance.now() - started;
    await delay(50);
  }
};
const untilReady = async (member: Member): Promise<number> => {
  const started = performance.now();
  for (;;) {
    const answer = await fetch(`${member.server().url}/health/ready`).catch(() => undefined);
    if (answer?.status === 200) return performance.now() - started;
    await delay(50);
  }
};
const other = ({ members }: TestFleet, member: Member): Member => {
  const found = members.find((each) => each !== member);
  if (found === undefined) throw new Error('there is one member');
  return found;
};
const leadingNode = (cluster: KurrentDbCluster) => {
  const node = cluster.leader();
  if (node === undefined) throw new Error('the cluster has no leader');
  return node;
};

describe('two processes on a cluster of three nodes of version 24.2, and of 26.1', {
  ...takesMinutes('processes on a cluster of doubles'),
  timeout: 300_000,
}, () => {
  test(
    'the other process takes writes after the leader node is dead and the leader process is killed',
    onBoth(async ({ cluster, fleet }) => {
      const leader = await fleet.leader();
      const follower = other(fleet, leader);
      await untilWritten(follower, 'before');
      await cluster.kill(leadingNode(cluster));
      const afterNode = await untilWritten(leader, 'node is gone');
      const ready = await untilReady(follower);
      await leader.end('SIGKILL');
      const afterProcess = await untilWritten(follower, 'process is gone');
      await leader.start();
      console.log(
        `node dead: a write after ${Math.round(afterNode)} ms, ready after ${Math.round(ready)} ms more; its process dead: a write after ${Math.round(afterProcess)} ms`,
      );
      expect((await write(leader, 'restarted')).status).toBe(201);
    }),
  );

  test(
    'writes continue within 15 s after the leader node froze, and readiness returns',
    onBoth(async ({ cluster, fleet }) => {
      const leader = await fleet.leader();
      const follower = other(fleet, leader);
      await untilWritten(follower, 'before');
      cluster.freeze(leadingNode(cluster));
      const [byLeader, byFollower] = await Promise.all([
        untilWritten(leader, 'node is frozen'),
        untilWritten(follower, 'node is frozen, the other process'),
      ]);
      const ready = await untilReady(follower);
      await leader.end('SIGKILL');
      const afterProcess = await untilWritten(follower, 'process is gone');
      console.log(
        `node frozen: a write after ${Math.round(byLeader)} ms by the leader and ${Math.round(byFollower)} ms by the other, ready after ${Math.round(ready)} ms more; the leading process dead: a write after ${Math.round(afterProcess)} ms`,
      );
      expect((await write(follower, 'continues')).status).toBe(201);
    }),
  );

  test(
    'without a majority no process ends, and everything continues afterwards',
    onBoth(async ({ cluster, fleet }) => {
      const leader = await fleet.leader();
      await untilWritten(leader, 'before');
      const [first, second] = cluster.nodes;
      for (const node of [first, second]) if (node !== undefined) await cluster.kill(node);
      const refused = await write(leader, 'no majority').catch(() => undefined);
      expect(refused?.status).toBe(503);
      await delay(Number(process.env['VARVE_NO_MAJORITY_MS'] ?? 5_000));
      if (first !== undefined) await cluster.revive(first);
      await untilWritten(leader, 'after');
      await untilReady(other(fleet, leader));
    }),
  );
});

describe('foreign events', takesMinutes('processes on a cluster of doubles'), () => {
  test('a start reads 3,000,000 records of other applications once, probes read a handful', {
    timeout: 180_000,
  }, async () => {
    const { cluster, fleet } = await start('26.1', 1);
    const [member] = fleet.members as [Member];
    await untilWritten(member, 'before');
    cluster.log.addForeign(FOREIGN);
    const scanned = () => cluster.nodes.reduce((sum, { double }) => sum + double.observed.scanned, 0);
    const counted = async (work: () => Promise<unknown>) => {
      const [records, started] = [scanned(), performance.now()];
      await work();
      return { records: scanned() - records, ms: Math.round(performance.now() - started) };
    };
    const walk = await counted(() => untilReady(member));
    // Reads that the walk has begun may continue for a while.
    const inASecond = async () => (await counted(() => delay(1_000))).records;
    await expect.poll(inASecond, { timeout: 60_000 }).toBeLessThan(100);
    const probe = await counted(() => untilReady(member));
    const gauges = await counted(() =>
      fetch(`${member.server().url}/metrics`).then((answer) => answer.text()),
    );
    await member.end('SIGTERM');
    const again = await counted(async () => {
      await member.start();
      await untilReady(member);
    });
    console.log(JSON.stringify({ walk, probe, gauges, again }));
    expect(probe.records).toBeLessThan(100);
    expect(gauges.records).toBeLessThan(1_000);
    expect(again.records).toBeLessThan(FOREIGN / 2);
  });
});
