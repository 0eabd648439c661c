import { setTimeout as delay } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type PurgerOptions, startPurger } from '../../../services/purge/open-purger.ts';
import type { PurgeNotes } from '../../../services/purge/purge-notes.ts';
import type { PurgeTerm } from '../../../services/purge/purge-store.ts';
import { PURGE_LIMITS } from '../../../services/purge/send-purges.ts';
import { takesMinutes } from '../../support/takes-minutes.ts';

/** A leader that has not read the end of its log for so long forbids caches to keep answers. */
const LONGEST_SILENCE_MS = 2_000;
/** Time in which answers of the former leader may still reach caches. */
const SETTLE_MS = 5_000;

/** Starts a leader's purger, on a clock that the test moves. `term`: the last term of this process. */
function startLeader(term: PurgeTerm | undefined, given: { readonly isDamaged?: boolean } = {}) {
  const clock = { at: Math.ceil(performance.now()) };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.at);
  const state = {
    purgedAll: 0,
    isSilent: false,
    unanswered: 0,
    looks: 0,
    shapes: 0,
    shape: 'shape',
    isWhole: true,
    isDamaged: false,
    answers: 0,
    ...given,
    kept: [] as string[],
  };
  const store: Partial<PurgeNotes['store']> = {
    term() {
      if (state.isDamaged) throw new Error('the file is damaged');
      return term;
    },
    hasAllFor: () => true,
    keepTerm: ({ shape }) => void state.kept.push(shape),
    done: () => {},
  };
  const notes: Partial<PurgeNotes> = {
    store: store as PurgeNotes['store'],
    everything() {
      state.purgedAll += 1;
    },
    isWhole: () => state.isWhole,
    lead({ isKnown }) {
      if (!isKnown) state.purgedAll += 1;
    },
    keep: () => {},
  };
  const purger = startPurger({
    notes: notes as PurgeNotes,
    targets: [],
    style: { soft: false, token: undefined },
    limits: PURGE_LIMITS,
    report: {
      error: () => {},
      attempted: () => {},
      replaced: () => {},
      purged: () => {},
      failed: () => {},
    } as PurgerOptions['report'],
    metrics: undefined,
    shape() {
      state.shapes += 1;
      return state.shape;
    },
    fleet: {
      epoch: () => 7,
      async changed() {
        state.looks += 1;
        await delay(1);
      },
    },
    log: {
      async lastPosition() {
        state.answers += 1;
        if (!state.isSilent) return 1n;
        state.unanswered += 1;
        return Promise.withResolvers<bigint>().promise;
      },
    },
    applied: async () => true,
  });
  onTestFinished(async () => {
    vi.restoreAllMocks();
    await purger.close();
  });
  /** Resolves after the purger has looked at the shape and at the clock. */
  const look = async () => {
    const before = state.shapes;
    await expect.poll(() => state.shapes, { interval: 5 }).toBeGreaterThan(before + 1);
  };
  return { purger, clock, state, look };
}

it(
  'reads the lease repeatedly without keeping memory of each read',
  takesMinutes('memory of the lease that is read'),
  async () => {
    const { state } = startLeader({ epoch: 7, shape: 'shape' });
    const looks = async (count: number) => {
      const until = state.looks + count;
      await expect.poll(() => state.looks).toBeGreaterThan(until);
      return queryObjects(Promise, { format: 'count' });
    };
    const before = await looks(10);
    expect((await looks(1_000)) - before).toBeLessThan(500);
  },
);

it('closes also while its log does not answer', async () => {
  const { purger, state } = startLeader({ epoch: 7, shape: 'shape' });
  await expect.poll(purger.isPurging).toBe(true);
  state.isSilent = true;
  await expect.poll(() => state.unanswered).toBe(1);
  await purger.close();
  expect(purger.isPurging()).toBe(false);
});

it('a leader that cannot read its file lets caches keep no answers', async () => {
  const { purger, state } = startLeader({ epoch: 7, shape: 'shape' }, { isDamaged: true });
  await expect.poll(() => state.answers).toBeGreaterThan(1);
  expect(purger.isPurging()).toBe(false);
  state.isDamaged = false;
  await expect.poll(purger.isPurging).toBe(true);
});

it('a leader that cannot read its log lets caches keep no answers after two seconds', async () => {
  const { purger, clock, state, look } = startLeader({ epoch: 7, shape: 'shape' });
  await expect.poll(purger.isPurging).toBe(true);
  state.isSilent = true;
  clock.at += LONGEST_SILENCE_MS - 1;
  await look();
  expect(purger.isPurging()).toBe(true);
  clock.at += 1;
  expect(purger.isPurging()).toBe(false);
});

it.each<[string, PurgeTerm | undefined, number]>([
  ['another process led before', { epoch: 5, shape: 'shape' }, 2],
  ['it led before itself', { epoch: 6, shape: 'shape' }, 0],
])(
  'purges everything again once answers of the leader before have arrived, if %s',
  async (_who, term, times) => {
    const { clock, state, look } = startLeader(term);
    await look();
    expect(state.purgedAll).toBe(times / 2);
    clock.at += SETTLE_MS;
    await look();
    expect(state.purgedAll).toBe(times / 2);
    clock.at += 1;
    await look();
    expect(state.purgedAll).toBe(times);
  },
);

it('keeps the shape of answers only when the purge of the last one is stored', async () => {
  const { state, look } = startLeader({ epoch: 7, shape: 'shape' });
  await look();
  expect(state.kept).toEqual(['shape']);
  state.isWhole = false;
  state.shape = 'other';
  await look();
  expect([state.purgedAll, state.kept]).toEqual([1, ['shape']]);
  state.isWhole = true;
  await look();
  expect([state.purgedAll, state.kept]).toEqual([1, ['shape', 'other']]);
});
