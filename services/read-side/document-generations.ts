import type { Generation } from '../../projections/generations/generation.ts';
import { openGenerationStore } from '../../projections/generations/generation-store.ts';
import { followCurrent } from '../../shared/follow-current.ts';
import { type GenerationState, openGraph } from './generation-state.ts';
import { createJointReadSide } from './joint-read-side.ts';
import { closeKept, dropKept, keep, removeOlder } from './kept-generations.ts';
import type { OutsideIndices } from './read-side.ts';
import type { ServedGenerations, ServedGenerationsOptions } from './served-generations.ts';
import { refuseWithoutLead, takeOverDocuments } from './take-over-documents.ts';

/** The generations of a data directory whose indices are outside the process that serves. */
export function openDocumentGenerations(
  options: ServedGenerationsOptions,
  outside: OutsideIndices,
): ServedGenerations {
  const { data, log, plan } = options;
  const store = openGenerationStore(data);
  const { number } = store.live();
  const state: GenerationState = {
    ...options,
    store,
    kept: new Map(),
    role: async () => {},
    leads: undefined,
    live: { number, graph: openGraph(options, number), readSide: undefined },
    switching: undefined,
    isClosed: false,
    onSwitch: [],
    missed: undefined,
    joint: undefined,
    isEarlier: false,
    closeRetired: async () => {},
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
    enter() {
      const kept = store.generations().findLast(({ state: is }) => is === 'kept');
      if (kept === undefined) return;
      keep(state, kept.number);
      // Of a process that ended before it was done with that; it is tried again at the next start.
      removeOlder(state, kept.number).catch(() => {});
    },
    refuseTakeOver: () => refuseWithoutLead(state),
    hasIndicesOutside: true,
    takeOver: (wanted) => takeOver(state, wanted, outside),
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

async function takeOver(
  state: GenerationState,
  number: number,
  outside: OutsideIndices,
): Promise<Generation> {
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
  const switched = takeOverDocuments(state, found, outside);
  state.switching = { number, over: switched.catch(() => {}) };
  try {
    await switched;
  } finally {
    if (state.joint === undefined) state.missed = undefined;
    state.switching = undefined;
  }
  return store.live();
}
