import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AnsweringLimits } from '../../services/purge/answering-limits.ts';
import { awaitAnswering } from '../../services/purge/await-answering.ts';
import { reportAnswering } from '../../services/purge/report-answering.ts';
import { MOST_ANSWERING } from '../../shared/read-index/answering-processes.ts';
import { createMemoryAnswering, type MemoryAnswering } from '../support/memory-answering.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Limits that are long enough for a busy machine, which may stop this process for half a second. */
const LIMITS: AnsweringLimits = {
  reportEveryMs: 30,
  longestSilenceMs: 600,
  waitedForMs: 900,
  forgottenAfterMs: 2_700,
  hurryMs: 5,
  hurryTogetherMs: 0.5,
  hurryForMs: 300,
  readMs: 5,
  readEachMs: 0.1,
};
/** Limits with which no process reports by itself during a test. */
const SLOW: AnsweringLimits = { ...LIMITS, reportEveryMs: 60_000 };
const PATIENT = { timeout: 10_000, interval: 5 };

type Store = MemoryAnswering;

function startReporter(processes: Store, process: string, position = { is: 1n }, limits = LIMITS) {
  const failures: unknown[] = [];
  const asked = { times: 0 };
  const reporter = reportAnswering({
    processes,
    process,
    async shown() {
      asked.times += 1;
      return position.is;
    },
    shape: () => `shape of ${process[0]}`,
    failed: (error) => failures.push(error),
    limits,
  });
  onTestFinished(reporter.close);
  return { ...reporter, failures, position, asked };
}

function startLeader(processes: Store, epoch: number, limits = LIMITS) {
  const state = { returned: 0, isPurging: true, failures: 0, visible: 100n, moved: 0 };
  const leader = awaitAnswering({
    processes,
    visible: () => state.visible,
    epoch,
    isPurging: () => state.isPurging,
    returned() {
      state.returned++;
    },
    moved() {
      state.moved++;
    },
    failed() {
      state.failures++;
    },
    limits,
  });
  onTestFinished(leader.close);
  return { ...leader, state };
}

const MANY = { ...takesMinutes('as many answering processes as a leader waits for'), timeout: 30_000 };

it('lets caches keep the answers of a process only while a leader has seen its reports and purges', async () => {
  const processes = createMemoryAnswering();
  const one = startReporter(processes, 'a1');
  await delay(100);
  expect(one.keeping()).toBe('asked');
  const leader = startLeader(processes, 1);
  await expect.poll(one.keeping, PATIENT).toBe('kept');
  leader.state.isPurging = false;
  await expect.poll(one.keeping, PATIENT).toBe('asked');
  leader.state.isPurging = true;
  await expect.poll(one.keeping, PATIENT).toBe('kept');
  processes.cutOff(true);
  await expect.poll(one.keeping, PATIENT).toBe('silent');
  expect([one.failures.length, leader.state.failures]).toEqual([1, 1]);
  processes.cutOff(false);
  await expect.poll(one.keeping, PATIENT).toBe('kept');
});

it('purges when all awaited processes show the change, and not before they can be known', async () => {
  const processes = createMemoryAnswering();
  const [one, two] = [startReporter(processes, 'a1'), startReporter(processes, 'b1', { is: 5n })];
  const begun = performance.now();
  const leader = startLeader(processes, 1);
  await leader.known;
  expect(leader.shown()).toBeUndefined();
  await expect.poll(leader.shown, PATIENT).toBe(1n);
  expect(performance.now() - begun).toBeGreaterThanOrEqual(LIMITS.waitedForMs);
  expect(leader.shape()).toBe('shape of a shape of b');
  one.position.is = 9n;
  await expect.poll(leader.shown, PATIENT).toBe(5n);
  const silentFrom = performance.now();
  await two.close();
  await expect.poll(leader.shown, PATIENT).toBe(9n);
  // The silence is longer than the process itself lets caches keep answers.
  expect(performance.now() - silentFrom).toBeGreaterThan(LIMITS.longestSilenceMs);
  await one.close();
  await expect.poll(() => (leader.shown() ?? 0n) > 2n ** 63n, PATIENT).toBe(true);
  expect(leader.state.returned).toBe(0);
  await expect.poll(() => processes.reports(), PATIENT).toEqual([]);
});

it('lets caches keep no answer of a process that does not show changes purged before its start', async () => {
  const processes = createMemoryAnswering();
  const leader = startLeader(processes, 1);
  await expect.poll(leader.shown, PATIENT).toBeDefined();
  leader.purging(7n);
  const late = startReporter(processes, 'a1', { is: 6n });
  await delay(LIMITS.waitedForMs);
  expect(late.keeping()).toBe('asked');
  late.position.is = 7n;
  await expect.poll(late.keeping, PATIENT).toBe('kept');
});

it('reports when a silent process answers again, also one that an earlier leader knew', async () => {
  const processes = createMemoryAnswering();
  const report = (process: string, beat: number, isAcknowledged = false) =>
    processes.report({ process, beat, position: 1n, shape: 'one', isAcknowledged });
  await report('a1', 1, true);
  const leader = startLeader(processes, 1);
  await expect.poll(leader.shown, PATIENT).toBeDefined();
  expect(leader.state.returned).toBe(0);
  await delay(LIMITS.waitedForMs);
  await report('a1', 2);
  await expect.poll(() => leader.state.returned, PATIENT).toBe(1);
  await report('a1', 3);
  // This process has sent three reports since its start: it is new, and not one that was silent.
  await report('b1', 3);
  await delay(100);
  expect(leader.state.returned).toBe(1);
  // An acknowledged report of an unknown process: its earlier report was removed, or this leader began while it was paused.
  await report('c1', 12, true);
  await expect.poll(() => leader.state.returned, PATIENT).toBe(2);
});

it('ignores a former leader that continues', async () => {
  const processes = createMemoryAnswering();
  const one = startReporter(processes, 'a1');
  const next = startLeader(processes, 2);
  await expect.poll(one.keeping, PATIENT).toBe('kept');
  const earlier = startLeader(processes, 1);
  await next.close();
  await earlier.known;
  await expect.poll(one.keeping, PATIENT).toBe('asked');
  await delay(LIMITS.longestSilenceMs);
  expect(one.keeping()).toBe('asked');
});

it('reports its position immediately while the log has more events, up to a time limit', async () => {
  const processes = createMemoryAnswering();
  const one = startReporter(processes, 'a1', { is: 1n }, SLOW);
  const reported = async () => (await processes.reports()).map(({ position }) => position);
  await expect.poll(reported, PATIENT).toEqual([1n]);
  one.expect(9n);
  await expect.poll(() => one.asked.times, PATIENT).toBeGreaterThan(3);
  one.position.is = 9n;
  await expect.poll(reported, PATIENT).toEqual([9n]);
  one.expect(20n);
  await delay(2 * SLOW.hurryForMs);
  const { times } = one.asked;
  await delay(SLOW.hurryForMs);
  expect(one.asked.times).toBe(times);
});

it('does not report more often while its reports do not arrive', async () => {
  const processes = createMemoryAnswering();
  const one = startReporter(processes, 'a1', { is: 1n }, SLOW);
  await expect.poll(() => processes.reports(), PATIENT).toHaveLength(1);
  processes.cutOff(true);
  one.position.is = 2n;
  one.expect(9n);
  await expect.poll(() => one.failures.length, PATIENT).toBe(1);
  one.expect(10n);
  const { times } = one.asked;
  await delay(100);
  expect(one.asked.times).toBe(times);
});

it('reads the reports that a purge waits for again, once its documents show the change', async () => {
  const processes = createMemoryAnswering();
  const [one, two] = [startReporter(processes, 'a1'), startReporter(processes, 'b1', { is: 9n })];
  const leader = startLeader(processes, 1);
  await expect.poll(leader.shown, PATIENT).toBe(1n);
  // All reports are read regularly, also without a waiting purge. Those that are read by name are counted.
  const hurried = () => processes.readByName.filter(({ length }) => length === 1);
  leader.state.visible = 1n;
  leader.expect(9n);
  await delay(100);
  expect(hurried()).toEqual([]);
  leader.state.visible = 9n;
  await expect.poll(hurried, PATIENT).toContainEqual(['a1']);
  one.position.is = 9n;
  await expect.poll(leader.shown, PATIENT).toBe(9n);
  expect(hurried()).not.toContainEqual(['b1']);
  await Promise.all([one.close(), two.close()]);
});

it(
  `waits for ${MOST_ANSWERING} processes, and gives others no permission until one of these is forgotten`,
  MANY,
  async () => {
    const processes = createMemoryAnswering(MOST_ANSWERING);
    let beat = 0;
    const reportAll = async (names: readonly string[]) => {
      beat += 1;
      for (const process of names)
        await processes.report({ process, beat, position: 5n, shape: 'one', isAcknowledged: false });
    };
    const first = Array.from({ length: MOST_ANSWERING }, (_, n) => `a${n}`);
    await reportAll(first);
    let [isDone, living] = [false, first];
    const reporting = (async () => {
      for (; !isDone; await delay(LIMITS.reportEveryMs)) await reportAll(living);
    })();
    const leader = startLeader(processes, 1);
    await leader.known;
    const late = startReporter(processes, 'late', { is: 1n });
    await expect.poll(leader.shown, PATIENT).toBe(5n);
    await delay(LIMITS.waitedForMs);
    expect(late.keeping()).toBe('asked');
    // The leader waits for known processes and acknowledges them, although a search finds others instead.
    expect((await processes.awaited())?.beats.size).toBe(MOST_ANSWERING);
    expect([leader.shown(), leader.state.returned]).toEqual([5n, 0]);
    living = first.slice(1);
    late.position.is = 5n;
    await expect.poll(late.keeping, PATIENT).toBe('kept');
    isDone = true;
    await reporting;
  },
);

it('does not treat an earlier report of a process as a new one', async () => {
  const processes = createMemoryAnswering();
  const leader = startLeader(processes, 1);
  const report = (beat: number, position: bigint) =>
    processes.report({ process: 'a1', beat, position, shape: 'one', isAcknowledged: false });
  await report(2, 9n);
  const acknowledged = async () => (await processes.awaited())?.beats.get('a1');
  await expect.poll(acknowledged, PATIENT).toBe(2);
  await report(1, 3n);
  await delay(100);
  expect(await acknowledged()).toBe(2);
  // After that, the leader waits for no process.
  await expect.poll(() => (leader.shown() ?? 0n) > 2n ** 63n, PATIENT).toBe(true);
});

describe(
  'a leader whose acknowledgement takes long',
  takesMinutes('quick reports during a slow acknowledgement'),
  () => {
    /** Limits with which the next regular look is two seconds after the last one. */
    const RARE: AnsweringLimits = { ...LIMITS, reportEveryMs: 4_000, waitedForMs: 3_000 };
    const READS = 10;

    /** Starts a leader that knows `a1` at position 1. Its second acknowledgement does not end. */
    const startSlow = async (limits: AnsweringLimits) => {
      const store = createMemoryAnswering();
      let acknowledged = 0;
      const stuck = Promise.withResolvers<void>();
      const report = (beat: number, position: bigint) =>
        store.report({ process: 'a1', beat, position, shape: 'one', isAcknowledged: false });
      await report(1, 1n);
      const processes: Store = {
        ...store,
        async await(next) {
          acknowledged += 1;
          if (acknowledged > 1) await stuck.promise;
          await store.await(next);
        },
      };
      const leader = startLeader(processes, 1, limits);
      await leader.known;
      await report(2, 1n);
      await expect.poll(() => acknowledged, PATIENT).toBe(2);
      await expect.poll(leader.shown, PATIENT).toBe(1n);
      onTestFinished(() => stuck.resolve());
      return { leader, report, reads: () => store.readByName.length };
    };

    it('reads the reports that a purge waits for immediately and repeatedly', async () => {
      const { leader, report, reads } = await startSlow(RARE);
      const before = reads();
      leader.expect(9n);
      // Both timers run in this process, so they are equally late on a busy machine.
      const late = delay(RARE.reportEveryMs / 8).then(() => 'late');
      const read = expect.poll(reads, { ...PATIENT, interval: 1 }).toBeGreaterThan(before);
      expect(await Promise.race([late, read.then(() => 'read')])).toBe('read');
      await expect.poll(reads, PATIENT).toBeGreaterThanOrEqual(before + READS);
      const { moved } = leader.state;
      await report(3, 9n);
      await expect.poll(leader.shown, PATIENT).toBe(9n);
      expect(leader.state.moved).toBe(moved + 1);
    });

    it('pauses longer for more reports', async () => {
      const { leader, reads } = await startSlow({ ...RARE, readEachMs: 60_000 });
      const before = reads();
      leader.expect(9n);
      await delay(500);
      expect(reads()).toBe(before);
    });
  },
);
