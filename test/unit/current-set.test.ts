import { describe, expect, it } from 'vitest';
import { progressOfLiveSet } from '../../services/elasticsearch/progress-of-live-set.ts';
import { createCurrentSet, OtherSetIsLive } from '../../shared/read-index/elasticsearch/read/current-set.ts';
import type { IndexProgress } from '../../shared/read-index/index-progress.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';

/** Indices that a process reads before and after the aliases move. */
const OLD: IndexSet = { 'v-cook-draft': 'v-cook-draft-1' };
const NEW: IndexSet = { 'v-cook-draft': 'v-cook-draft-2' };

/** Creates a cluster whose aliases and answering times the test controls. */
function createMovingCluster() {
  let live = OLD;
  let clock = 0;
  let asked = 0;
  const held: (() => void)[] = [];
  let isHolding = false;
  const set = createCurrentSet(
    async () => {
      asked++;
      const found = live;
      if (isHolding) await new Promise<void>((resolve) => held.push(resolve));
      return found;
    },
    () => clock,
  );
  return {
    set,
    asked: () => asked,
    move: () => {
      live = NEW;
    },
    pass(ms: number) {
      clock += ms;
    },
    hold() {
      isHolding = true;
    },
    release() {
      isHolding = false;
      for (const resolve of held.splice(0)) resolve();
    },
  };
}

describe('the set of indices that a process reads', () => {
  it('is refreshed during a read after one second, and before a read after two', async () => {
    const { set, asked, move, pass } = createMovingCluster();
    expect(await set.get()).toBe(OLD);
    move();
    pass(999);
    expect(await set.get()).toBe(OLD);
    expect(asked()).toBe(1);
    pass(1);
    expect(set.get()).toBe(OLD);
    expect(asked()).toBe(2);
    pass(2_000);
    expect(await set.get()).toBe(NEW);
  });

  it('is not replaced by an older one because of a late answer', async () => {
    const { set, move, pass, hold, release } = createMovingCluster();
    hold();
    const early = set.get();
    move();
    release();
    pass(1);
    expect(await set.refresh()).toBe(NEW);
    expect(await early).toBe(OLD);
    expect(await set.get()).toBe(NEW);
  });

  it('does not change while it is held, and reports when another set is live', async () => {
    const { set, move, pass } = createMovingCluster();
    await set.get();
    await set.stay();
    expect(await set.refresh()).toBe(OLD);
    move();
    pass(10_000);
    expect(await set.get()).toBe(OLD);
    await expect(set.refresh()).rejects.toThrow(OtherSetIsLive);
  });
});

describe('a position that was announced for the new set', () => {
  const announced: IndexProgress = { epoch: 1, position: 7n, parked: [] };
  const progressOf = (set: ReturnType<typeof createCurrentSet>) =>
    progressOfLiveSet({ read: async () => announced, write: async () => {} }, set);

  it('is used only when that set is being read', async () => {
    const { set, move } = createMovingCluster();
    expect(await set.get()).toBe(OLD);
    move();
    // Without this look, the other set would be read for two more seconds.
    expect(await set.get()).toBe(OLD);
    expect(await progressOf(set).read()).toBe(announced);
    expect(await set.get()).toBe(NEW);
  });

  it('is never used for a caller that still uses the old set', async () => {
    const { set, move } = createMovingCluster();
    await set.get();
    await set.stay();
    move();
    await expect(progressOf(set).read()).rejects.toThrow(OtherSetIsLive);
  });
});
