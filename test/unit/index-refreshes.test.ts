import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createRefreshes, type Refreshes } from '../../projections/index-writer/refreshes.ts';

const SECOND = 1_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

/** Returns the seconds of continuous writing after which there was a refresh. */
async function refreshedAt(refreshes: Refreshes, made: () => number, isHeldBack: boolean, seconds: number) {
  const at: number[] = [];
  for (let second = 0; second <= seconds; second++) {
    const before = made();
    refreshes.written(7n, 3);
    await refreshes.refreshNowAndThen(isHeldBack);
    if (made() > before) at.push(second);
    vi.advanceTimersByTime(SECOND);
  }
  return at;
}

/** Counts in memory what a graph counts in its file. */
function countUnseen() {
  let unseen = 0;
  return {
    unseen: () => unseen,
    noteUnseen(documents: number) {
      unseen = documents;
    },
  };
}

function countingRefreshes(): { readonly refreshes: Refreshes; readonly made: () => number } {
  let count = 0;
  const refresh = async () => {
    count++;
  };
  return { refreshes: createRefreshes({ refresh }, countUnseen()), made: () => count };
}

it('refreshes every five seconds while this lets waiting requests finish', async () => {
  const { refreshes, made } = countingRefreshes();
  expect(await refreshedAt(refreshes, made, false, 22)).toEqual([0, 5, 10, 15, 20]);
  expect(refreshes.oldest()).toBe(7n);
  await refreshes.refresh();
  expect(refreshes.oldest()).toBeUndefined();
});

it('refreshes less and less often, at least once a minute, while documents of the same changes are still to be written', async () => {
  const { refreshes, made } = countingRefreshes();
  expect(await refreshedAt(refreshes, made, true, 210)).toEqual([0, 5, 10, 20, 40, 80, 140, 200]);
});

it('starts again at five seconds for writes that come after everything was visible', async () => {
  const { refreshes, made } = countingRefreshes();
  await refreshedAt(refreshes, made, true, 50);
  await refreshes.refresh();
  vi.advanceTimersByTime(60 * SECOND);
  expect(await refreshedAt(refreshes, made, true, 12)).toEqual([0, 5, 10]);
});
