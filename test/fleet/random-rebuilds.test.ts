import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGenerationStore } from '../../projections/generations/generation-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { startCountedTags } from '../support/counted-tags.ts';
import { foundSums, indexDigests, sumsOfLog } from '../support/document-sums.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchFleet, startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import { leaderOf, type Member } from '../support/fleet.ts';
import { createRandom } from '../support/naive-random.ts';
import { pauseMember } from '../support/pause-member.ts';
import { childrenOf, isRunning, workersOf } from '../support/processes.ts';
import { runVarve } from '../support/run-varve.ts';
import { spawnVarve } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Rebuilds, rollbacks, drops and cancels at random in a fleet of four processes, which are killed and paused. */
const ROUNDS = Number(process.env['VARVE_REBUILD_ROUNDS'] ?? 8);
/** The same seed makes nearly the same choices: what runs at once may draw in another order. */
const SEED = Number(process.env['VARVE_REBUILD_SEED'] ?? Date.now() % 1_000_000);
const space = `random_rebuilds_${process.pid}`;
const skip = takesMinutes('random rebuilds in a fleet');
/** A command that has not ended by then counts as a loop. */
const COMMAND_MS = 240_000;
const TIDY_MS = 90_000;
/** Characters that are printed of a process that has ended. */
const ENDED_SHOWS = 4_000;

const OPERATIONS = ['rebuild', 'rebuild', 'rebuild --graph', 'rollback', 'drop', 'cancel'] as const;
const DISTURBANCES = ['none', 'none', 'kill', 'pause', 'kill worker', 'kill next', 'kill builder'] as const;

type Round = {
  readonly operation: (typeof OPERATIONS)[number];
  readonly disturbance: (typeof DISTURBANCES)[number];
  /** Roles of the disturbed process. */
  readonly disturbed: string;
  readonly seconds: number;
  readonly code: number | null;
  readonly said: string;
};

const { next: random, pick } = createRandom(SEED);

/** Messages of a command whose outcome is also right: there was nothing to do. */
const NOTHING_TO_DO = /there is no kept generation|there is no rebuild to pause or cancel/;

describe('four processes on Elasticsearch', {
  ...(await needsElasticsearch(skip)),
  timeout: 600_000 + ROUNDS * 60_000,
}, () => {
  let fleet: ElasticsearchFleet;
  let url: string;
  const disturbed = new Set<Member>();

  beforeAll(async () => {
    url = await elasticsearchUrl();
    fleet = await startElasticsearchFleet({ url, space, projects: 3, apis: 1, serves: 1 });
  }, 300_000);
  afterAll(() => fleet?.dispose());

  const members = () => [...fleet.projects, ...fleet.serves];
  const own = ({ data }: Member) => [
    ...['--data', data, '--event-store', fleet.eventStore],
    ...['--read-index', url, '--space', space],
  ];

  async function operate(operation: Round['operation'], asked: Member) {
    if (operation === 'rollback' || operation === 'drop') return runWithin([operation, ...own(asked)]);
    const args = operation === 'rebuild --graph' ? ['--graph'] : ['--type', 'tag'];
    if (operation !== 'cancel') return runWithin(['rebuild', ...args, '--max-rate', '5000', ...own(asked)]);
    const begun = Promise.withResolvers<void>();
    const running = runWithin(
      ['rebuild', '--json', ...args, '--max-rate', '1000', ...own(asked)],
      begun.resolve,
    );
    await Promise.race([begun.promise, running]);
    await delay(random() * 8_000);
    const cancelled = await runWithin(['rebuild', '--cancel', ...own(pick(members()))]);
    const ended = await running;
    // The rebuild was live before, or was cancelled. Both are its end.
    const isOver = ended.code === 0 || /cancelled/.test(ended.said);
    return isOver ? { code: 0, said: `${cancelled.said}; ${ended.said}` } : ended;
  }

  /** Runs a command. Calls `begun` at its first output. */
  async function runWithin(
    args: readonly string[],
    begun = () => {},
  ): Promise<{ code: number | null; said: string }> {
    const running = spawnVarve(args);
    running.child.stdout?.once('data', begun);
    running.child.stderr?.once('data', begun);
    const timer = setTimeout(() => running.child.kill('SIGKILL'), COMMAND_MS);
    const { code, signal, output } = await running.exited;
    clearTimeout(timer);
    if (code !== 0) console.log(args.join(' '), output.slice(-ENDED_SHOWS));
    return { code, said: signal === null ? (output.trim().split('\n').at(-1) ?? '') : 'LOOP' };
  }

  async function disturb(kind: Round['disturbance'], member: Member): Promise<void> {
    const { supervisor } = member.server();
    const [serving, next] = workersOf(supervisor);
    if (kind === 'kill worker' && serving !== undefined) process.kill(serving, 'SIGKILL');
    if (kind === 'kill next' && next !== undefined) process.kill(next, 'SIGKILL');
    if (kind === 'kill builder' && serving !== undefined)
      for (const child of childrenOf(serving)) process.kill(child, 'SIGKILL');
    if (kind === 'kill') {
      await member.end('SIGKILL');
      await delay(random() * 3_000);
      await member.start();
    }
    if (kind === 'pause') {
      await pauseMember(fleet as never, member);
      await delay(500 + random() * 8_000);
      member.server().signal('SIGCONT');
    }
  }

  async function round(): Promise<Round> {
    const [operation, disturbance, asked] = [pick(OPERATIONS), pick(DISTURBANCES), pick(members())];
    const leader = await leaderOf(members());
    const member = random() < 0.6 ? leader : pick(members());
    const roles = [member === leader ? 'leader' : 'standby', ...(member === asked ? ['asked'] : [])];
    const started = performance.now();
    const running = operate(operation, asked);
    if (disturbance !== 'none') {
      await delay(random() * 7_000);
      disturbed.add(member);
      await disturb(disturbance, member).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ESRCH') throw error;
      });
    }
    const { code, said } = await running;
    await leaderOf(members());
    disturbed.delete(member);
    const seconds = Math.round((performance.now() - started) / 1_000);
    return { operation, disturbance, disturbed: roles.join(' and '), seconds, code, said };
  }

  /** Indices that no alias of searches and no record of a data directory names. */
  async function forgotten(): Promise<readonly string[]> {
    const found = (await (await fetch(`${url}/${space}-*/_alias`)).json()) as Record<
      string,
      { readonly aliases: Record<string, unknown> }
    >;
    const recorded = new Set(
      members().flatMap(({ data }) => {
        const store = openGenerationStore(data);
        try {
          return store.generations().flatMap(({ indices = {} }) => Object.values(indices));
        } finally {
          store.close();
        }
      }),
    );
    const isSearched = (index: string, aliases: object) =>
      Object.keys(aliases).includes(index.replace(/-\d+$/, ''));
    return Object.entries(found)
      .filter(([index]) => /-\d+$/.test(index))
      .filter(([index, { aliases }]) => !recorded.has(index) && !isSearched(index, aliases))
      .map(([index]) => index);
  }

  it(`${ROUNDS} rebuilds, rollbacks, drops and cancels end as old or new, with every answer right and nothing left`, async () => {
    const tags = await startCountedTags({
      writeThrough: members(),
      readFrom: [...fleet.apis, ...fleet.serves],
      isDisturbed: (member) => disturbed.has(member),
    });
    console.log(`seed ${SEED}: VARVE_REBUILD_SEED=${SEED} chooses the same again`);
    const rounds: Round[] = [];
    const left: string[] = [];
    /** Processes that ended by themselves. A standby that has ended is seen by no reader. */
    const ended = new Set<string>();
    for (let n = 1; n <= ROUNDS; n++) {
      const last = await round();
      rounds.push(last);
      console.log(n, JSON.stringify(last), tags.counts(), tags.wrong.length, tags.failures.length);
      for (const member of members().filter((each) => !isRunning(each.server().supervisor))) {
        if (!ended.has(member.name))
          console.log(`${member.name} has ended`, member.server().output().slice(-ENDED_SHOWS));
        ended.add(member.name);
      }
      if (n % 10 !== 0) continue;
      const until = performance.now() + TIDY_MS;
      while ((await forgotten()).length > 0 && performance.now() < until) await delay(1_000);
      left.push(...(await forgotten()));
    }
    // Everything that is recorded can be removed by a command to any process.
    for (const member of members()) await runVarve(['rebuild', '--cancel', ...own(member)]);
    expect(await runVarve(['drop', ...own(pick(members()))])).toMatchObject({ code: 0 });
    const last = await tags.stop();
    const failed = rounds.filter(
      ({ code, said, disturbance }) => code !== 0 && disturbance === 'none' && !NOTHING_TO_DO.test(said),
    );
    const loops = rounds.filter(({ said }) => said === 'LOOP');
    console.log({
      ...tags.counts(),
      rounds: ROUNDS,
      failed: failed.length,
      loops: loops.length,
      left: left.length,
    });
    const { wrong, failures } = tags;
    expect({ failed, loops, left, wrong, failures, ended: [...ended] }).toEqual({
      ...{ failed: [], loops: [], left: [], wrong: [], failures: [], ended: [] },
    });
    await expect.poll(forgotten, { timeout: TIDY_MS }).toEqual([]);
    expect(last.size).toBeGreaterThan(0);
    const log = openSqliteEventStore(fleet.eventStore.slice('sqlite:'.length), { space, decode: upcast });
    const clean = await sumsOfLog(log, space);
    await log.close();
    await expect
      .poll(async () => indexDigests(await foundSums(url, space)), { timeout: 60_000 })
      .toEqual(indexDigests(clean));
  });
});
