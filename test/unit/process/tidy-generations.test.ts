import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type GenerationStore,
  openGenerationStore,
} from '../../../projections/generations/generation-store.ts';
import { openContentGraph } from '../../../projections/graph/content-graph.ts';
import { graphFile } from '../../../projections/graph/store/generation-files.ts';
import type { LeaderLocation } from '../../../services/fleet/leadership.ts';
import { tidyGenerations } from '../../../services/process/tidy-generations.ts';
import { embeddedReadSide } from '../../../services/read-side/embedded-read-side.ts';
import type { OutsideIndices } from '../../../services/read-side/outside-indices.ts';
import { tryLockFile } from '../../../shared/sqlite/lock-file.ts';
import { dataForTest } from '../../support/data-for-test.ts';

/** A process of a fleet on Elasticsearch, which gets the lease and loses it. The clock and the changes of the lease are made by hand. */
const INDICES = { 'v-tag-draft': 'v-tag-draft-2' };
const AT = '2026-11-30T00:00:00.000Z';
const LEADER = { owner: 'other', address: 'http://127.0.0.1:1', claim: 'c' };
const LOCATIONS: Readonly<Record<string, LeaderLocation>> = {
  nobody: { kind: 'nobody' },
  elsewhere: { kind: 'elsewhere', leader: LEADER, term: new AbortController().signal },
};

let data: string;
let store: GenerationStore;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  data = dataForTest();
  store = openGenerationStore(data);
  onTestFinished(store.close);
});

/** Begins a rebuild with a graph and recorded indices. */
function begin(): number {
  const { id, generation } = store.begin({ graph: false }, AT);
  openContentGraph(graphFile(data, generation)).close();
  store.noteIndices(generation, INDICES);
  store.enter(id, 'indexing');
  return id;
}

/** Creates a lease whose changes, and the time between two looks at it, are made by the test. */
function createLease() {
  let leader: number | 'nobody' | 'elsewhere' = 'nobody';
  let waits = Promise.withResolvers<number>();
  let wake = () => {};
  /** Ends the wait for a change. Resolves to the milliseconds of the next wait, when the look before it has ended. */
  const look = (): Promise<number> => {
    waits = Promise.withResolvers();
    wake();
    return waits.promise;
  };
  return {
    fleet: {
      epoch: () => (typeof leader === 'number' ? leader : undefined),
      leader: () => LOCATIONS[leader] ?? expect.unreachable(),
      changed: (ms: number) =>
        new Promise<void>((resolve) => {
          wake = resolve;
          waits.resolve(ms);
        }),
    },
    first: waits.promise,
    becomes(next: typeof leader) {
      leader = next;
      return look();
    },
    pass(ms: number) {
      vi.advanceTimersByTime(ms);
      return look();
    },
  };
}

/** Starts a process that does not know the leader yet. `remove`: rejects while the cluster is away. */
async function start(remove: () => Promise<void> = async () => {}) {
  const removed: string[] = [];
  const swept: number[] = [];
  const failures: string[] = [];
  const outside: Pick<OutsideIndices, 'remove' | 'sweep'> = {
    async remove(set) {
      await remove();
      removed.push(...Object.values(set));
    },
    async sweep({ epoch }) {
      swept.push(epoch);
      return { removed: [], existing: new Set() };
    },
  };
  const { fleet, first, becomes, pass } = createLease();
  const { dropOfOthers, stop } = tidyGenerations({
    data,
    fleet,
    plan: { ...embeddedReadSide({}), outside: outside as OutsideIndices },
    generations: {
      store,
      entered: Promise.resolve(),
      removeOlder: async () => [],
      abandon: async () => {},
      isSwitching: () => false,
    },
    removed: () => {},
    failed: (error) => void failures.push((error as Error).message),
  });
  onTestFinished(stop);
  await first;
  return { removed, swept, failures, becomes, pass, dropOfOthers };
}

/** Expects that the rebuild was cancelled, and that nothing of its generation is left. */
function expectNothingLeft(removed: readonly string[]): void {
  expect(store.rebuild()).toMatchObject({ phase: 'cancelled' });
  expect(store.generations()).toHaveLength(1);
  expect(existsSync(graphFile(data, 2))).toBe(false);
  expect(removed).toEqual(Object.values(INDICES));
}

describe('a process that loses the lease during its rebuild', () => {
  it('continues the rebuild if it becomes the leader again within 15 s, as often as that happens', async () => {
    begin();
    const { becomes, pass, removed } = await start();
    for (const epoch of [3, 5, 7]) {
      await becomes(epoch);
      await pass(60_000);
      expect(await becomes('elsewhere')).toBe(15_000);
      expect(await pass(14_000)).toBe(1_000);
      expect(store.rebuild()).toMatchObject({ phase: 'indexing', wanted: 'run' });
    }
    await becomes(9);
    await pass(60_000);
    expect(store.rebuild()).toMatchObject({ phase: 'indexing', wanted: 'run' });
    expect(removed).toEqual([]);
  });

  it('cancels the rebuild if another process is the leader for 15 s, also after a time without one', async () => {
    begin();
    const { becomes, pass, removed } = await start();
    await becomes(3);
    await becomes('elsewhere');
    vi.advanceTimersByTime(10_000);
    await becomes('nobody');
    vi.advanceTimersByTime(5_000);
    await becomes('elsewhere');
    expectNothingLeft(removed);
    expect(await pass(0)).toBe(15_000);
  });

  it('cancels a switch at once', async () => {
    store.enter(begin(), 'taking over');
    const { becomes, removed } = await start();
    await becomes('elsewhere');
    expectNothingLeft(removed);
  });

  it('lets the process that makes the generation cancel it, and does so itself if that process could not', async () => {
    begin();
    const { becomes, pass, removed } = await start();
    const builder = tryLockFile(join(data, 'rebuild.db'));
    await becomes('elsewhere');
    await pass(15_000);
    await pass(15_000);
    expect(store.rebuild()).toMatchObject({ phase: 'indexing', wanted: 'cancel' });
    builder?.release();
    await pass(15_000);
    expectNothingLeft(removed);
  });
});

describe('a leader', () => {
  it('removes the indices of others only after 15 s of each of its terms', async () => {
    const { becomes, pass, swept } = await start();
    expect(await becomes(3)).toBe(15_000);
    await pass(14_000);
    await becomes('elsewhere');
    await becomes(5);
    await pass(14_999);
    expect(swept).toEqual([]);
    await pass(1);
    await pass(15_000);
    expect(swept).toEqual([5, 5]);
  });

  it('removes them at once if an operator asks for it', async () => {
    const { becomes, swept, dropOfOthers } = await start();
    await becomes(3);
    await dropOfOthers();
    expect(swept).toEqual([3]);
  });
});

describe('a rebuild whose process ended before it could cancel it', () => {
  it('is cancelled by the server, also without a leader', async () => {
    store.want(begin(), 'cancel');
    const { removed } = await start();
    await vi.waitFor(() => expectNothingLeft(removed));
  });

  it('is left to a process that makes its generation', async () => {
    store.want(begin(), 'cancel');
    const builder = tryLockFile(join(data, 'rebuild.db'));
    const { removed } = await start();
    await delay(100);
    expect(store.rebuild()).toMatchObject({ phase: 'indexing' });
    expect(removed).toEqual([]);
    builder?.release();
  });

  it('keeps its record while Elasticsearch is away, since only the record has the names of its indices', async () => {
    store.want(begin(), 'cancel');
    const { failures } = await start(() => Promise.reject(new Error('connect ECONNREFUSED')));
    await vi.waitFor(() => expect(failures).toEqual(['connect ECONNREFUSED']));
    expect(store.rebuild()).toMatchObject({ phase: 'indexing', wanted: 'cancel' });
    expect(store.generations()).toMatchObject([{ number: 1 }, { indices: INDICES }]);
  });
});
