import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { type Member, startFleet, type TestFleet } from '../support/fleet.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { pauseMember } from '../support/pause-member.ts';
import { jsonOf } from '../support/run-varve.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { differences } from './same-reads.ts';
import { type SourceGate, startSourceGate } from './source-gate.ts';

type Status = { readonly follow: { readonly role: string; readonly requests: number } };

describe('a fleet that follows', takesMinutes('a fleet that follows'), () => {
  const contentTypes = createKitchenTypes();
  let source: RunningServer;
  let gate: SourceGate;
  let fleet: TestFleet;
  let made = 0;

  const write = async (url: string): Promise<number> => {
    const response = await fetch(`${url}/api/dishs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data: { name: `dish ${++made}` } }),
    });
    await response.text();
    return response.status;
  };
  const becomeEqual = async (member: Member) => {
    for (let tries = 0; tries < 300; tries++) {
      if ((await differences(source.url, member.server().url, contentTypes)).length === 0) return;
      await delay(100);
    }
    expect(await differences(source.url, member.server().url, contentTypes)).toEqual([]);
  };
  /** Kills the leader. The previous leader takes over, and both follow. */
  const leadAgain = async (next: Member, leader: Member) => {
    await leader.end('SIGKILL');
    for (let n = 0; n < 5; n++) await write(source.url);
    await fleet.becomesLeader(next);
    await becomeEqual(next);
    await leader.start();
    await becomeEqual(leader);
  };
  const statusOf = async ({ data }: Member) =>
    (await jsonOf<Status>(['status', '--json', '--data', data, '--event-store', fleet.eventStore])).follow;
  const other = (than: Member) => fleet.members.find((member) => member !== than && member.isUp()) as Member;

  beforeAll(async () => {
    source = await startServer({ contentTypes });
    for (let n = 0; n < 5; n++) await write(source.url);
    gate = await startSourceGate(source.url);
    const follow = ['--follow', gate.url, '--follow-interval', '300ms', '--follow-rate', '1000'];
    fleet = await startFleet({ size: 2, contentTypes, arguments: follow });
  }, 300_000);
  afterAll(async () => {
    await fleet?.dispose();
    gate?.close();
    await source?.dispose();
    rmSync(contentTypes, { recursive: true, force: true });
  });

  it('lets one process read Strapi, and shows writes to the other one when they are answered', {
    timeout: 300_000,
  }, async () => {
    const leader = await fleet.leader();
    const standby = other(leader);
    await becomeEqual(leader);
    await becomeEqual(standby);
    expect(await statusOf(standby)).toMatchObject({ role: 'standby', requests: 0 });
    expect(await write(standby.server().url)).toBe(201);
    expect(await differences(source.url, standby.server().url, contentTypes)).toEqual([]);
  });

  it('follows again in a second term, if the leader was paused while Strapi had not answered', {
    timeout: 300_000,
  }, async () => {
    const first = await fleet.leader();
    const second = other(first);
    let asked = 0;
    gate.hold(() => ++asked > 0);
    await expect.poll(() => asked).toBeGreaterThan(0);
    await pauseMember(fleet, first);
    await fleet.becomesLeader(second);
    first.server().signal('SIGCONT');
    await expect.poll(() => epochOf(first), { timeout: 60_000 }).toBe(null);
    for (let n = 0; n < 5; n++) await write(source.url);
    gate.open();
    await becomeEqual(first);
    await leadAgain(first, second);
  });

  it('loses nothing and writes nothing twice while its leader is paused, and killed', {
    timeout: 300_000,
  }, async () => {
    const first = await fleet.leader();
    const second = other(first);
    await pauseMember(fleet, first);
    for (let n = 0; n < 5; n++) await write(source.url);
    await fleet.becomesLeader(second);
    await becomeEqual(second);
    first.server().signal('SIGCONT');
    await becomeEqual(first);
    await leadAgain(first, second);
    await delay(1_000);
    // Every draft row and every published row was imported once.
    expect(await importsByRow(fleet.eventStore)).toEqual(new Set([1]));
  });
});

/** Returns the epoch of a leader, or null for a standby. */
async function epochOf(member: Member): Promise<number | null> {
  const answer = await fetch(`${member.server().url}/_varve/leader`);
  return ((await answer.json()) as { readonly epoch: number | null }).epoch;
}

/** Returns the numbers of imports that rows have. */
async function importsByRow(eventStore: string): Promise<ReadonlySet<number>> {
  const log = await openSqliteEventStore(eventStore.slice('sqlite:'.length), { space: 'varve' });
  const counts = new Map<string, number>();
  for await (const events of log.readAll(0n)) {
    for (const { type, data } of events) {
      if (type !== 'entry-imported') continue;
      const { documentId, version } = data as { documentId: string; version: string };
      const key = `${documentId} ${version}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  await log.close();
  return new Set(counts.values());
}
