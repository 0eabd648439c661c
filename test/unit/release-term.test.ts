import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { startReleaseTerm } from '../../services/releases/release-term.ts';
import { noReleases, type Release, type ReleaseState } from '../../shared/releases/release-state.ts';

const release = (id: number, scheduledAt: number, more: Partial<Release> = {}): Release => ({
  id,
  name: String(id),
  scheduledAt: new Date(scheduledAt).toISOString(),
  timezone: null,
  single: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  createdBy: null,
  revision: 0n,
  actions: [],
  releasedAt: null,
  lateMs: null,
  failure: null,
  ...more,
});

/** Runs the scheduler on these releases and a clock that the test sets. */
function schedule(releases: readonly Release[]) {
  let state: ReleaseState = { ...noReleases(), releases: new Map(releases.map((each) => [each.id, each])) };
  let time = 0;
  const ended: number[] = [];
  let woken = Promise.withResolvers<void>();
  const term = startReleaseTerm({
    known: { state: () => state },
    async carryOut(id) {
      const found = state.releases.get(id) as Release;
      const done = { ...found, releasedAt: new Date(time).toISOString() };
      state = { ...state, releases: new Map(state.releases).set(id, done) };
      return { kind: 'done', release: done, position: 1n };
    },
    report: {
      ended({ id }) {
        ended.push(id);
        woken.resolve();
      },
      error() {},
    },
    now: () => time,
  });
  onTestFinished(() => term.close(true));
  return {
    ended,
    setClock(ms: number) {
      time = ms;
    },
    /** Resolves when this many releases have been carried out. */
    async until(count: number): Promise<void> {
      while (ended.length < count) {
        await woken.promise;
        woken = Promise.withResolvers();
      }
    },
  };
}

it('carries out what is late in the order of the times, then of the ids', async () => {
  const scheduler = schedule([release(1, -10), release(2, -30), release(3, -10), release(4, 60_000)]);
  await scheduler.until(3);
  expect(scheduler.ended).toEqual([2, 1, 3]);
});

it('notices a clock that jumps forward, and waits again after one that was set back', async () => {
  const scheduler = schedule([release(1, 3_600_000), release(2, 7_200_000)]);
  scheduler.setClock(3_600_000);
  await scheduler.until(1);
  // The scheduler sees that the second one is due soon, and the clock is set back before it is.
  scheduler.setClock(7_199_700);
  await delay(600);
  scheduler.setClock(-3_600_000);
  await delay(600);
  expect(scheduler.ended).toEqual([1]);
  scheduler.setClock(7_200_001);
  await scheduler.until(2);
  expect(scheduler.ended).toEqual([1, 2]);
});

it('does not try again what failed at its time, and tries what failed before', async () => {
  const failure = (at: number) => ({ failure: { at: new Date(at).toISOString(), problems: [] } });
  const scheduler = schedule([
    release(1, -100, failure(-100)),
    release(2, -100, failure(-101)),
    release(3, -50),
  ]);
  await scheduler.until(2);
  expect(scheduler.ended).toEqual([2, 3]);
});
