import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { awaitAnswering } from '../../services/purge/await-answering.ts';
import { reportAnswering } from '../../services/purge/report-answering.ts';
import { createMemoryAnswering } from '../support/memory-answering.ts';

/** Long enough for a busy machine, which may stop this process for half a second. */
const LIMITS = { reportEveryMs: 30, longestSilenceMs: 600, waitedForMs: 900, forgottenAfterMs: 2_700 };
const PATIENT = { timeout: 10_000, interval: 5 };

type Store = ReturnType<typeof createMemoryAnswering>;

function startReporter(processes: Store, process: string, position = { is: 1n }) {
  const failures: unknown[] = [];
  const reporter = reportAnswering({
    processes,
    process,
    shown: async () => position.is,
    shape: () => `shape of ${process[0]}`,
    failed: (error) => failures.push(error),
    limits: LIMITS,
  });
  onTestFinished(reporter.close);
  return { ...reporter, failures, position };
}

function startLeader(processes: Store, epoch: number) {
  const state = { returned: 0, isPurging: true, failures: 0 };
  const leader = awaitAnswering({
    processes,
    epoch,
    isPurging: () => state.isPurging,
    returned() {
      state.returned++;
    },
    moved: () => {},
    failed() {
      state.failures++;
    },
    limits: LIMITS,
  });
  onTestFinished(leader.close);
  return { ...leader, state };
}

it('lets a process keep answers only while a leader has seen its reports and purges', async () => {
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

it('purges after all processes that are waited for, and not before they can be known', async () => {
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
  // Longer than the process itself lets caches keep answers.
  expect(performance.now() - silentFrom).toBeGreaterThan(LIMITS.longestSilenceMs);
  await one.close();
  await expect.poll(() => (leader.shown() ?? 0n) > 2n ** 63n, PATIENT).toBe(true);
  expect(leader.state.returned).toBe(0);
  await expect.poll(() => processes.reports(), PATIENT).toEqual([]);
});

it('lets a process keep nothing that does not show what was purged before it came', async () => {
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

it('says when a process was silent and answers again, also one that an earlier leader knew', async () => {
  const processes = createMemoryAnswering();
  const report = (beat: number) => processes.report({ process: 'a1', beat, position: 1n, shape: 'one' });
  await report(1);
  const leader = startLeader(processes, 1);
  await expect.poll(leader.shown, PATIENT).toBeDefined();
  expect(leader.state.returned).toBe(0);
  await delay(LIMITS.waitedForMs);
  await report(2);
  await expect.poll(() => leader.state.returned, PATIENT).toBe(1);
  await report(3);
  await processes.report({ process: 'b1', beat: 1, position: 1n, shape: 'one' });
  await delay(100);
  expect(leader.state.returned).toBe(1);
  // Its report was removed, or this leader began while it was paused.
  await processes.report({ process: 'c1', beat: 12, position: 1n, shape: 'one' });
  await expect.poll(() => leader.state.returned, PATIENT).toBe(2);
});

it('gives an earlier leader that continues no say', async () => {
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
