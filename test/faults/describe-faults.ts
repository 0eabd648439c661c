import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchNodes, startElasticsearchNodes } from '../support/elasticsearch-nodes.ts';
import { workersOf } from '../support/processes.ts';
import { runVarve } from '../support/run-varve.ts';
import { whyNoSmallDisk } from '../support/small-disk.ts';
import { needsQuietMachine } from '../support/takes-minutes.ts';
import type { Fault, Role } from './fault.ts';
import {
  type FaultFleet,
  type FaultPlace,
  type Process,
  type Roles,
  startFaultFleet,
} from './fault-fleet.ts';
import { firingAlerts } from './firing-alerts.ts';
import { type Counted, createLedger, type Ledger } from './ledger.ts';
import { HEALTHY, type Observed, observe, type Words } from './observe.ts';

/** An observation of a paused process takes ten seconds, so this is time for four. */
const NOTICED_WITHIN = 45_000;
const HEALED_WITHIN = 120_000;
const NEXT_BATCH = 300;
const ROLES = ['leader', 'standby', 'api'] as const satisfies readonly Role[];
const TYPES = ['tags', 'countries'] as const satisfies readonly Counted[];

/**
 * Runs each fault on one fleet, one after the other, and checks the indices with `varve verify` at the end. A failed row gets its
 * successors a new fleet.
 */
export async function describeFaults(
  title: string,
  faults: readonly Fault[],
  place: Place = {},
): Promise<void> {
  const name = title.toLowerCase().replace(/\W+/g, '_').slice(0, 12);
  const quiet = needsQuietMachine(`faults: ${title}`);
  // A cluster of its own does not need the node of the run.
  const options = place.nodes === undefined ? await needsElasticsearch(quiet) : quiet;
  describe(`faults: ${title}`, options, () => {
    const { ready, end, begin, close } = shareFleet(name, place);
    beforeAll(begin, 300_000);
    afterAll(close, 60_000);

    it.for(withDisks(faults))('$name', { timeout: 360_000 }, async (fault, { onTestFailed, task }) => {
      const run = { fault, ...(await ready()) };
      onTestFailed(async () => {
        const causes = task.result?.errors?.map(({ message, diff }) => diff ?? message) ?? [];
        console.log([`FAILED ${fault.name}`, ...causes, lastWords(run.fleet)].join('\n'));
        await end();
      });
      const begun = performance.now();
      const answers = await carryOut(run);
      console.log(`${fault.name} | ${answers} | ${Math.round((performance.now() - begun) / 1_000)} s`);
    });

    it('leaves indices that are right', { timeout: 120_000 }, async () => {
      const { fleet } = await ready();
      const { admin, eventStore, space } = fleet;
      const { leader } = await fleet.roles();
      const index = ['--read-index', admin.url, '--space', space, '--event-store', eventStore];
      const verified = await runVarve(['verify', '--data', leader.data, ...index]);
      expect(verified, verified.stdout + verified.stderr).toMatchObject({ code: 0 });
    });
  });
}

/** `nodes`: number of nodes of a cluster of its own. Absent: the node of the run. */
type Place = Pick<FaultPlace, 'hasSmallDisks'> & { readonly nodes?: number };

type Started = { readonly fleet: FaultFleet; readonly ledger: Ledger };

/** Creates the state of a suite without a fleet. `ready` starts one unless there is one; `end` ends it. */
function shareFleet(name: string, place: Place) {
  let cluster: ElasticsearchNodes | undefined;
  let starting: Promise<Started> | undefined;
  let fleets = 0;
  const start = async (): Promise<Started> => {
    const fleet = await startFaultFleet(`faults_${name}_${process.pid}_${++fleets}`, { ...place, cluster });
    return { fleet, ledger: await createLedger((await fleet.roles()).api) };
  };
  const ready = (): Promise<Started> => {
    starting ??= start();
    return starting;
  };
  const end = async (): Promise<void> => {
    const ending = starting;
    starting = undefined;
    const started = await ending?.catch(() => undefined);
    await started?.fleet.dispose();
  };
  return {
    ready,
    end,
    async begin(): Promise<void> {
      if (place.nodes !== undefined) cluster = await startElasticsearchNodes(place.nodes);
      await ready();
    },
    async close(): Promise<void> {
      await end();
      await cluster?.stop();
    },
  };
}

/** Returns the rows that this process can make. Skips those that fill a disk if it may not mount one. */
function withDisks(faults: readonly Fault[]): readonly Fault[] {
  const why = faults.some(({ fillsDisk }) => fillsDisk) ? whyNoSmallDisk() : undefined;
  if (why === undefined) return faults;
  for (const { name, fillsDisk } of faults)
    if (fillsDisk) it.skip(name, { meta: { skipReason: `${name}: ${why}` } }, () => {});
  return faults.filter(({ fillsDisk }) => fillsDisk !== true);
}

type Run = { readonly fault: Fault; readonly fleet: FaultFleet; readonly ledger: Ledger };

/** Carries out one row. Returns what was answered, in one line. */
async function carryOut(run: Run): Promise<string> {
  const { fault, fleet, ledger } = run;
  const roles = await fleet.roles();
  await fault.prepare?.(fleet);
  await expectHealed(run, roles);
  const before = processesOf(fleet);
  const logged = new Map(fleet.all.map((each) => [each, each.server().output().length]));
  const watches = ROLES.map((role) => ledger.watch(roles[role], fault.disturbs?.includes(role) ?? false));
  const began = performance.now();
  const undo = await fault.make(fleet, roles);
  const made = performance.now();
  // Writes that arrive together are one batch, and wait for the documents of the whole batch.
  const writes = TYPES.map((type, i) => delay(i * NEXT_BATCH).then(() => ledger.write(type, roles.api)));
  let answers = '';
  try {
    if (fault.during === undefined) await expectLogged(run, logged);
    else await expectDuring(fault, roles, logged);
    await fault.expectMore?.(fleet, roles);
    answers = await expectWrites(fault, writes);
    await delay(Math.max(0, (fault.lasts ?? 0) - (performance.now() - made)));
  } finally {
    await undo();
  }
  const undone = performance.now();
  const late = await Promise.all(writes);
  expect(TYPES.filter((type, i) => isLater(fault, type) && ![200, 202].includes(late[i] ?? 0))).toEqual([]);
  expect(late.filter((status) => ![0, 200, 202, 503].includes(status))).toEqual([]);
  await expectHealed(run, roles);
  const healed = Math.round((performance.now() - undone) / 100) / 10;
  const wrong = (await Promise.all(watches.map((each) => each.stop()))).flat();
  const noticed = made + (fault.unnoticedFor ?? 0);
  expect(wrong.filter(({ at }) => at < began || at > noticed)).toEqual([]);
  if (fault.disturbs === undefined) expect(processesOf(fleet)).toEqual(before);
  return `${answers}, healed after ${healed} s`;
}

function isLater({ writes }: Fault, type: Counted): boolean {
  return writes?.[type] === 'later';
}

/** Pids of all supervisors and workers. */
function processesOf({ all }: FaultFleet): readonly number[] {
  return all.flatMap((each) => [each.server().supervisor, ...workersOf(each.server().supervisor)]);
}

/** Waits until every process answers and says what the row expects. */
async function expectDuring(fault: Fault, roles: Roles, logged: ReadonlyMap<Process, number>): Promise<void> {
  const expected = ROLES.map((role) => ({ role, ...HEALTHY, ...fault.during?.all, ...fault.during?.[role] }));
  const says = fault.says ?? /./;
  const look = async () => {
    const words = await Promise.all(ROLES.map((role) => observe(roles[role])));
    const affected = ROLES.filter((_role, i) => (words[i]?.observed.conditions.length ?? 0) > 0);
    const talking = affected.length === 0 ? (['leader'] as const) : affected;
    return {
      observed: words.map(({ observed }, i) => ({
        role: ROLES[i],
        ...observed,
        ...refusedLate(observed, expected[i]),
      })),
      alerts: firingAlerts(words.map(({ scrape }) => scrape)),
      refusals: words.flatMap(refusalsOf).filter((text) => !says.test(text)),
      states: statesOf(fault, words),
      isLogged: talking.some((role) => fault.log?.test(since(roles[role], logged)) ?? true),
    };
  };
  await expect
    .poll(look, { timeout: NOTICED_WITHIN, interval: 200 })
    .toEqual({ observed: expected, alerts: fault.alerts ?? [], refusals: [], states: [], isLogged: true });
}

/** Returns `late` for reads that are refused although they may take longer. */
function refusedLate(observed: Observed, expected: Observed | undefined): Partial<Observed> {
  const types = TYPES.filter((type) => expected?.[type] === 'late' && observed[type] === 503);
  return Object.fromEntries(types.map((type) => [type, 'late']));
}

/** Waits until a process has logged a fault that has no answers of its own. */
async function expectLogged(
  { fault: { log }, fleet }: Run,
  logged: ReadonlyMap<Process, number>,
): Promise<void> {
  if (log === undefined) return;
  const said = () => fleet.all.map((each) => since(each, logged)).join('\n');
  await expect.poll(said, { timeout: NOTICED_WITHIN }).toMatch(log);
}

function since(member: Process, logged: ReadonlyMap<Process, number>): string {
  return member.server().output().slice(logged.get(member));
}

function refusalsOf({ observed, texts }: Words): readonly string[] {
  return [
    ...(observed.tags === 503 ? [texts.tags] : []),
    ...(observed.countries === 503 ? [texts.countries] : []),
  ];
}

/** Returns the summaries that do not name the cause: of processes with a condition, or of all that answer if none has. */
function statesOf({ state }: Fault, words: readonly Words[]): readonly string[] {
  const affected = words.filter(({ observed }) => observed.conditions.length > 0);
  const talking = affected.length > 0 || state === undefined ? affected : words;
  return talking
    .filter(({ scrape }) => scrape !== undefined)
    .map(({ summary }) => summary)
    .filter((summary) => state === undefined || !state.test(summary));
}

/** Checks the writes that are answered while the fault lasts. */
async function expectWrites(fault: Fault, writes: readonly Promise<number>[]): Promise<string> {
  const expected = TYPES.map((type) => fault.writes?.[type] ?? 200);
  const answered = await Promise.all(
    writes.map(async (write, i) => {
      const outcome = expected[i];
      if (outcome === 'later' || outcome === 'any') return outcome;
      return (await write) === 0 ? 'refused' : write;
    }),
  );
  expect(answered).toEqual(expected);
  return `writes ${answered.join(' ')}`;
}

/** Waits until every process is healthy and shows all stored writes, and until later writes are shown. */
async function expectHealed({ fleet, ledger }: Run, roles: Roles): Promise<void> {
  const look = async () => {
    const words = await Promise.all(fleet.all.map(observe));
    return words.map(({ observed, texts }) => ({
      ...observed,
      isCurrent: TYPES.map((type) => observed[type] === 200 && ledger.isCurrent(type, texts[type])),
    }));
  };
  const healthy = fleet.all.map(() => ({ ...HEALTHY, isCurrent: [true, true] }));
  await expect.poll(look, { timeout: HEALED_WITHIN, interval: 200 }).toEqual(healthy);
  for (const type of TYPES)
    await expect.poll(() => ledger.write(type, roles.api), { timeout: HEALED_WITHIN }).toBe(200);
  await expect.poll(look, { timeout: HEALED_WITHIN, interval: 200 }).toEqual(healthy);
}

const WIDTH = 300;
/** A process without memory prints some 30 lines, the reason first. */
const LINES = 40;

/** Returns the end of each process's output. */
function lastWords({ all }: FaultFleet): string {
  const linesOf = ({ name, server }: Process) => [
    `${name}:`,
    ...server()
      .output()
      .trim()
      .split('\n')
      .filter((line) => !/slow query|read-index-unavailable/.test(line))
      .slice(-LINES)
      .map((line) => line.slice(0, WIDTH)),
  ];
  return all.flatMap(linesOf).join('\n');
}
