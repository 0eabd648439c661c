import type { Generation } from '../../projections/generations/generation.ts';
import { type GenerationStore, openGenerationStore } from '../../projections/generations/generation-store.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { followCurrent } from '../../shared/follow-current.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import {
  type GenerationState,
  type OpenGeneration,
  openGraph,
  type ServedGenerationsOptions,
} from './generation-state.ts';
import { createJointReadSide } from './joint-read-side.ts';
import { closeKept, dropKept, keep, removeOlder } from './kept-generations.ts';
import { applyMissed, openNext } from './open-next.ts';
import type { ReadSide } from './read-side.ts';
import { refuseWithoutLead, takeOverDocuments } from './take-over-documents.ts';

/**
 * The generations of a data directory in the process that serves it. One projector feeds the live one through `graph` and
 * `readSide`, which stay the same objects whichever generation is live.
 */
export type ServedGenerations = {
  readonly graph: ContentGraph;
  readonly store: GenerationStore;
  /** Opens the live generation's read side, once; the graph is as far as it will be shown by then. */
  openReadSide(): Promise<ReadSide>;
  /**
   * Opens the live generation's read side where its content types are not those in force any more: it serves what it has, also
   * for a while after another has taken over. `indices`: where they are outside the process, those that its reads go to, wherever
   * searches are led.
   */
  openEarlier(indices: IndexSet | undefined): Promise<ReadSide>;
  /** From now on generations that are kept follow the log. */
  followKept(): void;
  /**
   * Makes a generation the live one: brings it level beside the one that serves, then all reads and writes go to it at once.
   * Harmless for the one that is live already. Throws while another is being taken over.
   */
  takeOver(number: number): Promise<Generation>;
  /** Throws a sentence where this process, as it is, can take over no generation. */
  refuseTakeOver(): void;
  /** Each generation has indices outside the process. */
  readonly hasIndicesOutside: boolean;
  /** Resolves when another generation is the live one. */
  readonly switched: () => Promise<void>;
  /** Removes the generations that are kept. */
  drop(): Promise<readonly number[]>;
  close(): Promise<void>;
};

/** Opens the live generation's graph. */
export function openServedGenerations(options: ServedGenerationsOptions): ServedGenerations {
  const { data, log, plan } = options;
  const store = openGenerationStore(data);
  const { number } = store.live();
  const state: GenerationState = {
    ...{ ...options, store, kept: new Map(), role: async () => {}, leads: undefined },
    live: { number, graph: openGraph(options, number), readSide: undefined },
    ...{ switching: undefined, isClosed: false, onSwitch: [], missed: undefined, joint: undefined },
    ...{ isEarlier: false, closeRetired: async () => {} },
  };
  return {
    graph: followCurrent(() => state.live.graph, {
      apply(events, upTo) {
        state.missed?.push(...events);
        return state.live.graph.apply(events, upTo);
      },
    }),
    store,
    async openReadSide() {
      if (plan === undefined) throw new Error('the generations were opened without a read side');
      if (state.live.readSide === undefined)
        state.live = { ...state.live, readSide: await plan.open(state.live.graph, log) };
      return createJointReadSide(state);
    },
    async openEarlier(indices) {
      if (plan === undefined) throw new Error('the generations were opened without a read side');
      const set = indices === undefined ? {} : { set: indices };
      const readSide = await plan.open(state.live.graph, log, set);
      state.live = { ...state.live, readSide };
      state.isEarlier = true;
      return readSide;
    },
    followKept() {
      const kept = store.generations().findLast(({ state: is }) => is === 'kept');
      if (kept === undefined) return;
      keep(state, kept.number);
      // Of a process that ended before it was done with that; it is tried again at the next start.
      removeOlder(state, kept.number).catch(() => {});
    },
    refuseTakeOver: () => refuseWithoutLead(state),
    hasIndicesOutside: plan?.outside !== undefined,
    takeOver: (wanted) => takeOver(state, wanted),
    switched: () => new Promise((resolve) => state.onSwitch.push(resolve)),
    drop: () => dropKept(state),
    async close() {
      state.isClosed = true;
      state.joint?.end.abort();
      await state.joint?.over;
      await state.closeRetired();
      for (const number of [...state.kept.keys()]) await closeKept(state, number);
      state.live.graph.close();
      store.close();
    },
  };
}

const TYPES_CHANGE =
  'the content types have changed and a new generation is being built: rollback is not available until then';

async function takeOver(state: GenerationState, number: number): Promise<Generation> {
  const { store } = state;
  // Asked for again by who was cut short.
  if (state.switching?.number === number) await state.switching.over;
  await state.joint?.over;
  const found = store.generations().find((each) => each.number === number);
  if (found === undefined) throw new Error(`there is no generation ${number}`);
  if (found.number === state.live.number) return found;
  // Any other would be of earlier content types still.
  if (state.isEarlier && found.state !== 'building') throw new Error(TYPES_CHANGE);
  if (state.switching !== undefined) throw new Error('a switch to another generation is in progress');
  const switched = switchGeneration(state, found);
  state.switching = { number, over: switched.catch(() => {}) };
  try {
    await switched;
  } finally {
    if (state.joint === undefined) state.missed = undefined;
    state.switching = undefined;
  }
  return store.live();
}

function switchGeneration(state: GenerationState, found: Generation): Promise<void> {
  const { outside } = state.plan ?? {};
  return outside === undefined ? takeOverRows(state, found.number) : takeOverDocuments(state, found, outside);
}

/** Of an index in this process. */
async function takeOverRows(state: GenerationState, number: number): Promise<void> {
  const next = await openNext(state, number, undefined);
  // What others apply while a promise settles.
  while (next.graph.position() < state.live.graph.position()) await applyMissed(state, next);
  const before = switchTo(state, next);
  keep(state, before.number, before);
  await removeOlder(state, before.number);
}

/** In one step: every reader and every writer sees one generation or the other. */
function switchTo(state: GenerationState, next: OpenGeneration): OpenGeneration {
  const before = state.live;
  state.store.setLive(next.number);
  state.live = next;
  state.isEarlier = false;
  for (const resolve of state.onSwitch.splice(0)) resolve();
  return before;
}
