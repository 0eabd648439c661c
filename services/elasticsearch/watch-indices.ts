import { setTimeout as delay } from 'node:timers/promises';
import type { IndexFault } from '../../shared/read-index/index-fault.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { countDocuments } from './count-documents.ts';
import { noteFaults } from './note-faults.ts';
import { publishFaults, restoreBase, returnAliases } from './restore-indices.ts';
import {
  createWatchState,
  know,
  lose,
  type Making,
  observeAll,
  observeContents,
  observeDefinitions,
  readDefinitions,
  type WatchIndicesOptions,
  type WatchState,
} from './watch-state.ts';

/** Watches the live indices while this process writes them. */
export type IndexWatch = {
  /** Begins with the set that is written now. `lost`: types whose indices must be made again. */
  begin(set: IndexSet, lost: readonly Uid[]): Promise<void>;
  /** Resolves when no index has to be made again, or after `timeoutMs`. */
  made(timeoutMs: number): Promise<unknown>;
  /** Looks at the indices now. Rejects if the cluster does not answer. */
  look(): Promise<void>;
};

/** Milliseconds between two requests. Contents and definitions are observed in turn. */
const EVERY_MS = 1_000;
const LOST_BEFORE = 'it has no index that Varve has written';

/** Creates the watch. It sends nothing before `begin`, and ends when `signal` is aborted. */
export function watchIndices(options: WatchIndicesOptions): IndexWatch {
  const state = createWatchState(options);
  let last: Promise<unknown> = Promise.resolve();
  /** Runs one step at a time. */
  const inTurn: InTurn = (work) => {
    const step = last.then(work);
    last = step.catch(() => {});
    return step;
  };
  return {
    async begin(set, lost) {
      await inTurn(async () => {
        await observeAll(state);
        know(state, set);
        for (const type of lost)
          lose(state, type, { kind: 'missing', reason: LOST_BEFORE, refusesReads: true });
        state.faults = await refusingBefore(state);
        state.stale.disregard([]);
        await settle(state, inTurn);
      });
      // Never rejects: each failure is reported, and the next turn tries again.
      void run(state, inTurn);
    },
    made: (timeoutMs) => state.changed.until(() => state.lost.size === 0, timeoutMs),
    look: () =>
      inTurn(async () => {
        await observeAll(state);
        await settle(state, inTurn);
      }),
  };
}

/**
 * Resolves to the faults because of which the leader before refused reads. Searches may lack documents of these types even if the fault has
 * ended, so it lasts until they are written.
 */
async function refusingBefore({ cluster }: WatchState): Promise<readonly IndexFault[]> {
  const types = new Set(cluster.watched.aliases.values());
  const published = await cluster.watched.published.read();
  return published.filter(({ type, refusesReads }) => refusesReads && types.has(type));
}

type InTurn = (work: () => Promise<void>) => Promise<void>;

async function run(state: WatchState, inTurn: InTurn): Promise<void> {
  const { signal, report } = state;
  let isFailing = false;
  for (let turn = 0; !signal.aborted; turn++) {
    await delay(EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    try {
      await inTurn(async () => {
        const isCounting = turn % 2 === 0 || state.counts.suspected.size > 0;
        await (isCounting ? observeContents(state) : observeDefinitions(state));
        await settle(state, inTurn);
        if (isCounting && !signal.aborted && (await countDocuments(state))) await settle(state, inTurn);
      });
      isFailing = false;
    } catch (error) {
      if (!isFailing && !signal.aborted)
        report.warn({ reason: (error as Error).message }, 'the indices cannot be watched: trying again');
      isFailing = true;
    }
  }
}

/** Compares what was observed with what was written, and acts on the differences. */
async function settle(state: WatchState, inTurn: InTurn): Promise<void> {
  noteFaults(state);
  if (state.signal.aborted) return;
  await restoreBase(state);
  await returnAliases(state);
  const { stale, counted } = state;
  const refused = state.faults.flatMap(({ type, refusesReads }) =>
    refusesReads && !counted.has(type) ? type : [],
  );
  const known = stale.disregarded();
  stale.disregard(refused.filter((type) => known.includes(type)));
  await publishFaults(state);
  if (state.signal.aborted) return;
  // All processes can know now that these reads are refused.
  stale.disregard(refused);
  startMaking(state, inTurn);
}

function startMaking(state: WatchState, inTurn: InTurn): void {
  const { lost, report, signal } = state;
  const types = [...lost.keys()];
  if (state.making !== undefined || types.length === 0 || signal.aborted) return;
  const making: Making = { ending: new AbortController(), indices: [] };
  state.making = making;
  const ended = AbortSignal.any([signal, making.ending.signal]);
  const made = state.makeAgain(types, {
    signal: ended,
    filling(set) {
      making.indices = Object.entries(set).flatMap(([alias, index]) =>
        types.includes(state.cluster.watched.aliases.get(alias) ?? '') ? index : [],
      );
    },
    adopt: (set, adopted) => inTurn(() => adopt(state, inTurn, set, adopted)),
  });
  void made
    .catch((error: Error) => {
      if (!ended.aborted) report.error({ types, reason: error.message }, 'the indices cannot be made again');
    })
    .finally(() => {
      state.making = undefined;
      // Other types may have been lost meanwhile.
      if (making.indices.length > 0) startMaking(state, inTurn);
    });
}

/** Takes the new indices of types that were lost. */
async function adopt(state: WatchState, inTurn: InTurn, set: IndexSet, types: readonly Uid[]): Promise<void> {
  const { cluster, lost } = state;
  state.contents = await cluster.watched.observer.contents();
  await readDefinitions(state);
  const isMade = ([alias]: readonly [string, string]) =>
    types.includes(cluster.watched.aliases.get(alias) ?? '');
  know(state, Object.fromEntries(Object.entries(set).filter(isMade)));
  for (const type of types) lost.delete(type);
  cluster.use(set);
  await settle(state, inTurn);
  state.changed.check();
}
