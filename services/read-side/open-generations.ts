import { setTimeout as delay } from 'node:timers/promises';
import type { Generation } from '../../projections/generations/generation.ts';
import { type GenerationStore, openGenerationStore } from '../../projections/generations/generation-store.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { catchUpOrThrow } from '../../projections/graph/projector.ts';
import { graphFile, removeGeneration } from '../../projections/graph/store/generation-files.ts';
import {
  inheritStale,
  isLeaderElsewhere,
  LeaderElsewhere,
  NO_INDICES,
  OTHERS_READ_FOR_MS,
  type OutsideGeneration,
  openFitting,
  switchAliases,
  switchClosedGeneration,
} from './outside-generation.ts';
import type { ReadSide, ServedIndices } from './read-side.ts';
import { removeIndices } from './remove-indices.ts';
import type { ServedGenerations, ServedGenerationsOptions } from './served-generations.ts';

const TYPES_CHANGE =
  'the content types have changed and a new generation is being built: rollback is not available until then';

/**
 * Opens the generations of a data directory. A process opens one of them. To serve another generation, another process replaces this one
 * (`handOver`). If no process serves, the record names the generation for the next start.
 */
export function openServedGenerations(options: ServedGenerationsOptions): ServedGenerations {
  const { data, log, plan, handOver } = options;
  const store = openGenerationStore(data);
  const stored = { store, options };
  const number = options.generation ?? store.live().number;
  const graph = openRecorded(stored, number);
  let readSide: ReadSide | undefined;
  /** True if the generation has earlier content types than those that will be in force. */
  let isDeferred = false;
  const switched: Switched = { before: undefined, entered: Promise.withResolvers<void>() };
  /** The generation to which this process is switching over. */
  let switching: { readonly number: number; readonly over: Promise<void> } | undefined;

  async function open(indices: ServedIndices): Promise<ReadSide> {
    if (plan === undefined) throw new Error('the generations were opened without a read side');
    readSide ??= await plan.open(graph, log, indices);
    return readSide;
  }

  async function takeOver(wanted: number): Promise<Generation> {
    const found = find(stored, wanted);
    if (found.state === 'live') return found;
    // Any other generation would have even earlier content types.
    if (isDeferred && found.state !== 'building') throw new Error(TYPES_CHANGE);
    refuseTakeOver();
    // Two commands can wait for one rebuild.
    const change = () => handOver?.(wanted, isDeferred) ?? makeLive(stored, found, number);
    // The caller handles `over`, below.
    const begin = () => ({ number: wanted, over: requireFitting(stored, found, graph).then(change) });
    const joined = switching?.number === wanted ? switching : begin();
    switching = joined;
    try {
      await joined.over;
    } catch (error) {
      refuseTakeOver();
      throw isLeaderElsewhere((error as Error).message) ? new LeaderElsewhere() : error;
    } finally {
      if (switching === joined) switching = undefined;
    }
    return store.live();
  }

  function refuseTakeOver(): void {
    if (readSide?.writesHere() === false) throw new LeaderElsewhere();
  }

  return {
    graph,
    store,
    takeOver,
    refuseTakeOver,
    abandon: async (...to) => options.abandon?.(...to),
    isSwitching: () => switching !== undefined,
    entered: switched.entered.promise,
    hasIndicesOutside: plan?.outside !== undefined,
    openReadSide(isRestored = false) {
      const found = find(stored, number);
      const next = found.state === 'live' ? undefined : outsideOf(stored, found, graph);
      return open(next === undefined ? { kind: 'live', isRestored } : nextIndices(next, switched));
    },
    async closeReadSide() {
      await readSide?.close();
      readSide = undefined;
    },
    deferChange() {
      isDeferred = true;
    },
    enter() {
      switched.before = enterGeneration(stored, number) ?? switched.before ?? lastKept(stored);
      switched.entered.resolve();
    },
    removeOlder: () => removeKept(stored, [number, switched.before]),
    drop: () => drop(stored, () => switching?.number),
    async close() {
      graph.close();
      store.close();
    },
  };
}

/** `before`: the generation that served before, to which a rollback switches. `entered`: this process serves. */
type Switched = { before: number | undefined; readonly entered: PromiseWithResolvers<void> };

/** Returns the indices for a process that replaces another one. Sets the generation that served before when the switch is done. */
function nextIndices(next: OutsideGeneration, switched: Switched): ServedIndices {
  const { plan, graph, log, store, set } = next;
  return {
    kind: 'next',
    set,
    async inherit() {
      const sets = await openFitting(plan.outside, graph, { log, store }, set);
      inheritStale(next, await sets.live().finally(sets.close));
    },
    async switch(epoch) {
      const served = store.live().number;
      const earlier = await switchAliases(next, epoch);
      switched.before = served;
      return earlier;
    },
  };
}

/** Makes a generation live unless it is. Returns the one that was live before. */
function enterGeneration({ store, options: { plan } }: Stored, number: number): number | undefined {
  const served = store.live().number;
  if (served === number) return undefined;
  // Only the leader switches searches.
  if (plan?.outside !== undefined) throw new LeaderElsewhere();
  store.setLive(number);
  return served;
}

type Stored = { readonly store: GenerationStore; readonly options: ServedGenerationsOptions };

/** Opens the graph of a generation. Throws if it has no record: opening its graph would create a file that no process removes. */
function openRecorded(stored: Stored, number: number): ContentGraph {
  const { store, options } = stored;
  try {
    find(stored, number);
    return openContentGraph(graphFile(options.data, number), options.plan?.graph);
  } catch (error) {
    store.close();
    throw error;
  }
}

function find({ store }: Stored, wanted: number): Generation {
  const found = store.generations().find((each) => each.number === wanted);
  if (found === undefined) throw new Error(`there is no generation ${wanted}`);
  return found;
}

/** Returns the part of a generation outside of the process; undefined if generations have none. */
function outsideOf(
  { store, options: { data, log, plan } }: Stored,
  wanted: Generation,
  graph: ContentGraph,
): OutsideGeneration | undefined {
  if (plan?.outside === undefined) return undefined;
  const { number, indices: set } = wanted;
  if (set === undefined) throw new Error(NO_INDICES);
  return { data, log, store, plan: { ...plan, outside: plan.outside }, number, graph, set };
}

/** Rejects with a message if a kept generation's indices outside of the process do not fit its content types. */
async function requireFitting(stored: Stored, found: Generation, graph: ContentGraph): Promise<void> {
  const outside = outsideOf(stored, found, graph);
  // A generation that is being built may have new content types, which come into force with this switch.
  if (outside === undefined || found.state === 'building') return;
  await (await openFitting(outside.plan.outside, graph, outside, outside.set)).close();
}

/** Makes a generation live while no process serves, after it has applied the log. The previous live generation, `before`, is kept. */
async function makeLive(stored: Stored, wanted: Generation, before: number): Promise<void> {
  const { store, options } = stored;
  const { data, log, plan, refuseElsewhere } = options;
  if (plan?.outside !== undefined) await refuseElsewhere?.();
  const graph = openContentGraph(graphFile(data, wanted.number), plan?.graph);
  try {
    await catchUpOrThrow(log, graph);
    const outside = outsideOf(stored, wanted, graph);
    if (outside === undefined) store.setLive(wanted.number);
    else await switchClosedGeneration(outside);
  } finally {
    graph.close();
  }
  await removeKept(stored, [before]);
}

/**
 * Removes the kept generations. Rejects with a message during a switch, because the process that is about to serve may have one open. Indices
 * outside are removed when no process reads them any more, since the generation may have been live a moment ago.
 */
async function drop(stored: Stored, switching: () => number | undefined): Promise<readonly number[]> {
  refuseDuring(switching());
  if (stored.options.plan?.outside !== undefined) await delay(OTHERS_READ_FOR_MS);
  refuseDuring(switching());
  return removeKept(stored);
}

function refuseDuring(switching: number | undefined): void {
  if (switching !== undefined)
    throw new Error(
      `a switch to generation ${switching} is in progress: run varve drop again when it is over`,
    );
}

/** Removes kept generations, except some, and resolves to their numbers. */
async function removeKept(
  { store, options: { data, plan } }: Stored,
  except: readonly (number | undefined)[] = [],
): Promise<readonly number[]> {
  const kept = store
    .generations()
    .filter(({ state, number }) => state === 'kept' && !except.includes(number));
  // The record is removed last, because without it no process would find the remaining files.
  for (const { number } of kept) {
    await removeIndices(store, number, plan?.outside);
    removeGeneration(data, number);
    store.forget(number);
  }
  return kept.map(({ number }) => number);
}

function lastKept({ store }: Stored): number | undefined {
  return store.generations().findLast(({ state }) => state === 'kept')?.number;
}
