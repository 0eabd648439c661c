import { afterAll, beforeAll, describe, expect, it, type TestOptions } from 'vitest';
import { type Member, startFleet, startReader, type TestFleet } from '../support/fleet.ts';
import { type FleetWriters, type SentEdit, startFleetWriters } from '../support/fleet-writers.ts';
import { readGraph, readLogFacts, rebuildGraph } from '../support/log-facts.ts';
import { pauseMember } from '../support/pause-member.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

export type TakeoverStore = {
  /** Address of the log. Default: an SQLite file. */
  readonly eventStore?: string;
  readonly arguments?: readonly string[];
  /** Namespace of the log. Default: varve. */
  readonly space?: string;
  readonly close: () => void;
};

/**
 * Tests two `varve serve` on one log. The leader is killed, stopped and paused while clients write through both processes.
 * TAKEOVER_ROUNDS=20 for a full run.
 */
export function describeTakeover(
  name: string,
  defaultRounds: number,
  open: () => Promise<TakeoverStore>,
  options: TestOptions = {},
): void {
  describe(name, options, () => {
    const rounds = Number(process.env['TAKEOVER_ROUNDS'] ?? defaultRounds);
    const sent: SentEdit[] = [];
    let store: TakeoverStore;
    let fleet: TestFleet;
    beforeAll(async () => {
      store = await open();
      fleet = await startFleet({ size: 2, ...store });
    });
    afterAll(async () => {
      await fleet?.dispose();
      store?.close();
    });
    const start = (of: string) => startFleetWriters({ members: fleet.members, perMember: 3, name: of });
    const finish = async (writers: FleetWriters): Promise<void> => {
      await writers.stop();
      sent.push(...writers.sent);
      expect(writers.refused, 'writes refused by a running process').toEqual([]);
    };

    it(`accepts writes again after kill -9 of the leader, ${rounds} times`, {
      timeout: rounds * 120_000 + 120_000,
    }, async () => {
      const writers = start('killed');
      const times: number[] = [];
      for (let round = 1; round <= rounds; round++) {
        const killed = await fleet.leader();
        times.push(
          await takeover(fleet, { from: killed, to: other(fleet, killed) }, writers, () =>
            killed.end('SIGKILL'),
          ),
        );
        await killed.start();
      }
      await finish(writers);
      const longest = Math.round(writers.longest());
      console.log(
        `${name}: takeovers after kill -9: ${times.join(', ')} ms; the write that waited longest: ${longest} ms`,
      );
    });

    it('accepts writes at once after a clean stop of the leader', async () => {
      const writers = start('stopped');
      const stopped = await fleet.leader();
      const taken = await takeover(fleet, { from: stopped, to: other(fleet, stopped) }, writers, () => {
        void stopped.end('SIGTERM');
      });
      await stopped.start();
      await finish(writers);
      console.log(`${name}: takeover after a clean stop: ${taken} ms`);
    });

    const pausing = { ...takesMinutes('a leader that is paused'), timeout: 300_000 };
    it(
      'loses nothing when the leader is paused for longer than its lease and then continues',
      pausing,
      async () => {
        const writers = start('paused');
        const paused = await fleet.leader();
        const next = other(fleet, paused);
        await writers.answered(30);
        const started = await pauseMember(fleet, paused);
        // Some writes wait in the sockets of the paused process. When it continues, it still assumes that it is the leader.
        await fleet.becomesLeader(next);
        const taken = Math.round(performance.now() - started);
        paused.server().signal('SIGCONT');
        await writers.answered(60);
        await finish(writers);
        console.log(`${name}: takeover from a paused leader: ${taken} ms`);
      },
    );

    it('has every answered write once, no other write twice, and the same graph in every process', async () => {
      const facts = await readLogFacts(fleet.eventStore, store.space);
      expect(sent.filter(({ isAnswered }) => isAnswered).length).toBeGreaterThan(100);
      for (const { key, number, isAnswered } of sent) {
        const times = facts.edits.get(`${key} ${number}`) ?? 0;
        if (isAnswered) expect(times, `${key} ${number}`).toBe(1);
        else expect(times, `${key} ${number}`).toBeLessThanOrEqual(1);
      }
      expect([...facts.created.values()].every((times) => times === 1)).toBe(true);
      // Expected claims of the lease: the first, at least one per round, and one each for the clean stop and the pause.
      expect(facts.claims).toBeGreaterThanOrEqual(rounds + (pausing.skip ? 2 : 3));

      const position = await lastPosition(fleet.members[0] as Member);
      for (const member of fleet.members) expect(await isShown(member, position)).toBe(200);
      for (const member of fleet.members) await member.end('SIGTERM');
      const rebuilt = await rebuildGraph(fleet.eventStore, store.space);
      expect(rebuilt.length).toBeGreaterThan(30);
      for (const { data } of fleet.members) expect(readGraph(data)).toEqual(rebuilt);
    });
  });
}

function other(fleet: TestFleet, member: Member): Member {
  return fleet.members.find((each) => each !== member) as Member;
}

/** Ends or pauses the leader. Returns the milliseconds until the new leader answered its first write. */
async function takeover(
  fleet: TestFleet,
  { from, to }: { readonly from: Member; readonly to: Member },
  writers: FleetWriters,
  go: () => unknown,
): Promise<number> {
  await fleet.becomesLeader(from);
  await writers.answered(30);
  const reads = startReader(to, '/api/restaurants?pagination[pageSize]=1');
  const started = performance.now();
  await go();
  await fleet.becomesLeader(to);
  await writers.answered(1);
  const taken = performance.now() - started;
  await writers.answered(30);
  expect(await reads.stop(), 'reads that were not answered').toEqual([]);
  return Math.round(taken);
}

async function lastPosition(member: Member): Promise<string> {
  const answer = await fetch(`${member.server().url}/api/restaurants`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { key: 'last', name: 'last' } }),
  });
  expect(answer.status).toBe(201);
  return String(answer.headers.get('varve-position'));
}

async function isShown(member: Member, position: string): Promise<number> {
  const headers = { 'varve-min-position': position };
  return (await fetch(`${member.server().url}/api/restaurants`, { headers })).status;
}
