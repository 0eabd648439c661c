import { expect, it, onTestFinished, vi } from 'vitest';
import { announceLeader, watchPurgingLeader } from '../../../services/purge/purging-leader.ts';
import type { PurgingLeader } from '../../../shared/read-index/purging-leader.ts';

const LONGEST_MS = 2_000;
const LIFETIME = { staleWhileRevalidate: 0, staleIfError: 0 };
const PATIENT = { timeout: 50_000, interval: 5 };

/** An announcement in memory. */
function createStore() {
  const state = {
    found: undefined as PurgingLeader | undefined,
    isAway: false,
    reads: 0,
    written: [] as string[],
  };
  return {
    state,
    async read() {
      state.reads += 1;
      if (state.isAway) throw new Error('away');
      return state.found;
    },
    async write(leader: PurgingLeader) {
      if (state.isAway) throw new Error('away');
      state.written.push(`${leader.epoch} ${leader.shape}`);
      state.found = leader;
    },
  };
}

/** Watches a leader, on a clock that the test moves. */
function startWatching(mine: PurgingLeader) {
  const clock = { at: 10_000 };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.at);
  const store = createStore();
  const failures: unknown[] = [];
  const watched = watchPurgingLeader(store, LIFETIME);
  onTestFinished(async () => {
    vi.restoreAllMocks();
    await watched.close();
  });
  const { isPurging } = watched.purged;
  expect(isPurging(clock.at)).toBe(false);
  const expected = { ...mine };
  watched.start(
    () => expected,
    (error) => failures.push(error),
  );
  /** Resolves after a read that has begun later than this call. */
  const look = async () => {
    const before = store.state.reads;
    await expect.poll(() => store.state.reads, PATIENT).toBeGreaterThan(before + 1);
  };
  return { clock, store, failures, expected, look, isPurging: (began = clock.at) => isPurging(began) };
}

it('caches may keep answers while a leader of the newest epoch purges them, and knows their shape', async () => {
  const { store, expected, look, isPurging } = startWatching({ epoch: 7, shape: 'a' });
  await look();
  expect(isPurging()).toBe(false);
  store.state.found = { epoch: 7, shape: 'a' };
  await expect.poll(() => isPurging(), PATIENT).toBe(true);
  for (const other of [{ epoch: 8 }, { shape: 'b' }]) {
    Object.assign(expected, { epoch: 7, shape: 'a' }, other);
    await expect.poll(() => isPurging(), PATIENT).toBe(false);
    store.state.found = { ...expected };
    await expect.poll(() => isPurging(), PATIENT).toBe(true);
  }
});

it('caches may keep no answer two seconds after it was begun, or after the leader was last known', async () => {
  const { clock, store, failures, look, isPurging } = startWatching({ epoch: 7, shape: 'a' });
  store.state.found = { epoch: 7, shape: 'a' };
  await expect.poll(() => isPurging(), PATIENT).toBe(true);
  expect(isPurging(clock.at - LONGEST_MS + 1)).toBe(true);
  expect(isPurging(clock.at - LONGEST_MS)).toBe(false);
  store.state.isAway = true;
  await look();
  clock.at += LONGEST_MS - 1;
  expect(isPurging()).toBe(true);
  clock.at += 1;
  expect(isPurging()).toBe(false);
  await look();
  // Only the first failure in a row is reported.
  expect(failures).toHaveLength(1);
  store.state.isAway = false;
  await expect.poll(() => isPurging(), PATIENT).toBe(true);
});

it('a leader is announced again when its shape changes or somebody else has replaced the announcement', async () => {
  const store = createStore();
  const mine = { epoch: 7, shape: 'a' };
  let changes = 0;
  const failures: unknown[] = [];
  const ending = new AbortController();
  store.state.found = { epoch: 6, shape: 'a' };
  const announced = announceLeader({
    store,
    leader: () => ({ ...mine }),
    changed: () => void changes++,
    signal: ending.signal,
    failed: (error) => failures.push(error),
  });
  onTestFinished(() => ending.abort());
  const { state } = store;
  await expect.poll(() => state.written, PATIENT).toEqual(['7 a']);
  // The earlier leader had announced the same shape.
  expect(changes).toBe(0);
  mine.shape = 'b';
  await expect.poll(() => state.written, PATIENT).toEqual(['7 a', '7 b']);
  await expect.poll(() => changes, PATIENT).toBe(1);
  // A paused leader writes late.
  state.found = { epoch: 6, shape: 'b' };
  await expect.poll(() => state.written, PATIENT).toEqual(['7 a', '7 b', '7 b']);
  expect(changes).toBe(1);
  [state.found, state.isAway] = [undefined, true];
  await expect.poll(() => failures.length, PATIENT).toBe(1);
  state.isAway = false;
  await expect.poll(() => changes, PATIENT).toBe(2);
  ending.abort();
  await announced;
  expect([state.written.length, failures.length]).toEqual([4, 1]);
});
