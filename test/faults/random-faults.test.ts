import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startCountedTags } from '../support/counted-tags.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import type { Member } from '../support/fleet.ts';
import { createRandom } from '../support/naive-random.ts';
import { isRunning } from '../support/processes.ts';
import { runVarve } from '../support/run-varve.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { needsQuietMachine } from '../support/takes-minutes.ts';
import type { Fault, Role } from './fault.ts';
import { type FaultFleet, type Process, type Roles, startFaultFleet } from './fault-fleet.ts';
import { ANSWERS_OF_ELASTICSEARCH } from './faults-of-elasticsearch.ts';
import { CHANGED_INDICES } from './faults-of-indices.ts';
import { ENDED_PROCESSES } from './faults-of-processes.ts';
import { ask, HEALTHY, observe } from './observe.ts';

/** Faults of the tables at random, under writes. Reads are checked all the time, and compared with an embedded server at the end. */
const FAULTS = Number(process.env['VARVE_FAULTS'] ?? 20);
/** The same seed makes the same faults. */
const SEED = Number(process.env['VARVE_FAULT_SEED'] ?? Date.now() % 1_000_000);
const WRITERS = 10;
const LONGEST_MS = 5_000;
const LONGEST_PAUSE_MS = 2_000;
const EQUAL_WITHIN = 30_000;
const MAKEABLE_MS = 90_000;
const space = `random_faults_${process.pid}`;

/** Without those that nothing tells Varve at once. */
const KINDS = [ANSWERS_OF_ELASTICSEARCH, CHANGED_INDICES, ENDED_PROCESSES].map((faults) =>
  faults.filter(({ unnoticedFor }) => unnoticedFor === undefined),
);
const { next: random, pick } = createRandom(SEED);

const COMPARED = [
  '/api/tags?sort=key&pagination[pageSize]=100&fields=key,name',
  '/api/tags?filters[name][$contains]=1&sort=name,key&pagination[pageSize]=100&populate=restaurants',
  '/api/tags?filters[key][$endsWith]=7&fields=key',
  '/api/restaurants?populate=tags&sort=key&pagination[pageSize]=100',
  '/api/restaurants?filters[tags][key][$startsWith]=counted&sort=key&populate=tags',
  '/api/countries?sort=key',
] as const;

describe('faults at random', {
  ...(await needsElasticsearch(needsQuietMachine('faults at random'))),
  timeout: 300_000 + FAULTS * 60_000,
}, () => {
  let fleet: FaultFleet;
  const disturbed = new Set<Member>();
  /** Processes that a fault may end or replace. */
  const ended = new Set<number>();

  beforeAll(async () => {
    fleet = await startFaultFleet(space);
  }, 180_000);
  afterAll(() => fleet?.dispose());

  /** Makes a fault. An index that is being made again after an earlier fault cannot be changed yet. */
  async function makeSoon(fault: Fault, roles: Roles): Promise<() => unknown> {
    for (const until = performance.now() + MAKEABLE_MS; ; await delay(500)) {
      try {
        return await fault.make(fleet, roles);
      } catch (error) {
        if (performance.now() > until) throw error;
      }
    }
  }

  async function strike(fault: Fault): Promise<void> {
    const roles = await fleet.roles();
    const hit = (fault.disturbs ?? []).map((role: Role) => roles[role]);
    for (const member of hit) {
      disturbed.add(member);
      ended.add(member.server().supervisor);
    }
    await fault.prepare?.(fleet);
    const undo = await makeSoon(fault, roles);
    await delay(random() * LONGEST_MS);
    await undo();
    await Promise.all(hit.map(isServing));
    for (const member of hit) disturbed.delete(member);
  }

  it(`${FAULTS} faults: no wrong answer, no lost write, no ended process, and everything equal afterwards`, async ({
    onTestFailed,
  }) => {
    const tags = await startCountedTags({
      writeThrough: fleet.all,
      readFrom: fleet.all,
      isDisturbed: (member) => disturbed.has(member),
      writers: WRITERS,
    });
    onTestFailed(() => console.log(tags.counts(), tags.wrong.slice(0, 20), tags.failures.slice(0, 5)));
    console.log(`seed ${SEED}: VARVE_FAULT_SEED=${SEED} chooses the same again`);
    const started = performance.now();
    for (let n = 1; n <= FAULTS; n++) {
      const fault = pick(pick(KINDS));
      await strike(fault);
      console.log(n, fault.name, tags.counts(), tags.wrong.length, tags.failures.length);
      await delay(random() * LONGEST_PAUSE_MS);
    }
    const last = await tags.stop();
    const seconds = (performance.now() - started) / 1_000;
    console.log({ faults: FAULTS, ...tags.counts(), writesPerSecond: tags.counts().written / seconds });
    await expect
      .poll(healthOfAll, { timeout: EQUAL_WITHIN, interval: 500 })
      .toEqual(fleet.all.map(() => HEALTHY));
    const embedded = await startServer({ arguments: ['--event-store', fleet.eventStore, '--space', space] });
    onTestFinished(() => embedded.dispose());
    for (const path of COMPARED) {
      const expected = await answerOf(embedded, path);
      expect(expected.status).toBe(200);
      for (const each of fleet.all) expect(await answerOf(each.server(), path), path).toEqual(expected);
    }
    const { text } = await answerOf(embedded, COMPARED[0]);
    const { data } = JSON.parse(text) as { readonly data: readonly { key: string; name: string }[] };
    expect(data.map(({ key, name }) => [key, Number(name)])).toEqual([...last]);
    expect({ wrong: tags.wrong, failures: tags.failures, endedAlone: endedAlone() }).toEqual({
      wrong: [],
      failures: [],
      endedAlone: [],
    });
    const { leader } = await fleet.roles();
    const index = ['--read-index', fleet.admin.url, '--space', space, '--event-store', fleet.eventStore];
    const verified = await runVarve(['verify', '--data', leader.data, ...index]);
    expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 });
  });

  async function healthOfAll() {
    return (await Promise.all(fleet.all.map(observe))).map(({ observed }) => observed);
  }

  /** A worker that starts while Elasticsearch refuses requests ends its server, so the next fault waits. */
  async function isServing(member: Process): Promise<void> {
    const until = performance.now() + 60_000;
    while ((await ask(member, '/health/ready')).outcome !== 200 && performance.now() < until)
      await delay(100);
  }

  /** Returns the processes that ended although no fault ended them, with their last lines. */
  function endedAlone(): readonly string[] {
    return fleet.all
      .filter(({ server }) => !isRunning(server().supervisor) || hasCrashed(server()))
      .map(({ name, server }) => `${name}: ${server().output().slice(-2_000)}`);
  }

  function hasCrashed({ supervisor, output }: RunningServer): boolean {
    return !ended.has(supervisor) && output().includes('the worker crashed');
  }
});

async function answerOf({ url }: RunningServer, path: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(url + path);
  return { status: answer.status, text: await answer.text() };
}
