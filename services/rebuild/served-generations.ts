import { setTimeout as delay } from 'node:timers/promises';
import { type ContentGraph, openContentGraph } from '../../projections/content-graph.ts';
import type { Generation } from '../../projections/generations/generation.ts';
import { graphFile, removeGeneration } from '../../projections/generations/generation-files.ts';
import { type GenerationStore, openGenerationStore } from '../../projections/generations/generation-store.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import type { ReadSide, ReadSidePlan } from '../read-side.ts';
import { followCurrent } from './follow-current.ts';
import { createSwitchedIndex } from './switched-index.ts';

/**
 * The generations of a data directory in the process that serves it. One projector feeds the live one through `graph` and
 * `readSide`, which stay the same objects whichever generation is live.
 */
export type ServedGenerations = {
  readonly graph: ContentGraph;
  readonly store: GenerationStore;
  /** Opens the live generation's read side, once; the graph is as far as it will be shown by then. */
  openReadSide(): Promise<ReadSide>;
  /** From now on generations that are kept follow the log. */
  followKept(): void;
  /**
   * Makes a generation the live one: brings it level beside the one that serves, then all reads and writes go to it at once.
   * Harmless for the one that is live already. Throws while another is being taken over.
   */
  takeOver(number: number): Promise<Generation>;
  /** Throws a sentence where this process, as it is, can take over no generation. */
  refuseTakeOver(): void;
  /** Resolves when another generation is the live one. */
  readonly switched: () => Promise<void>;
  /** Removes the generations that are kept. */
  drop(): Promise<readonly number[]>;
  close(): Promise<void>;
};

export type ServedGenerationsOptions = {
  readonly data: string;
  readonly log: EventStore;
  /** Absent: nothing is read here but the graph. */
  readonly plan: ReadSidePlan | undefined;
};

type Live = {
  readonly number: number;
  readonly graph: ContentGraph;
  readonly readSide: ReadSide | undefined;
};
type Kept = { readonly graph: ContentGraph; readonly stopFollowing: () => Promise<void> };

type State = ServedGenerationsOptions & {
  readonly store: GenerationStore;
  live: Live;
  readonly kept: Map<number, Kept>;
  /** Has a read side write its index, or follow another process that does. */
  role: (readSide: ReadSide | undefined) => Promise<void>;
  isSwitching: boolean;
  onSwitch: (() => void)[];
  /** What the live graph is given while another generation is brought level with it. */
  missed: StoredEvent[] | undefined;
};

/** Kept generations wait so long between batches: many events at once cost a fraction, and nobody reads them. */
const KEPT_PAUSE_MS = 1_000;
/** Requests come first: each piece of work is short, and as long as it took nothing is done after it. */
const EVENTS_AT_ONCE = 100;

/** Opens the live generation's graph. */
export function openServedGenerations(options: ServedGenerationsOptions): ServedGenerations {
  const { data, log, plan } = options;
  const store = openGenerationStore(data);
  const { number } = store.live();
  const state: State = {
    ...options,
    store,
    live: { number, graph: openGraph(options, number), readSide: undefined },
    kept: new Map(),
    role: async () => {},
    isSwitching: false,
    onSwitch: [],
    missed: undefined,
  };
  return {
    graph: followCurrent(() => state.live.graph, {
      apply(events) {
        state.missed?.push(...events);
        return state.live.graph.apply(events);
      },
    }),
    store,
    async openReadSide() {
      if (state.live.readSide !== undefined) return switchedReadSide(state);
      if (plan === undefined) throw new Error('the generations were opened without a read side');
      state.live = { ...state.live, readSide: await plan.open(state.live.graph, log) };
      return switchedReadSide(state);
    },
    followKept() {
      for (const each of store.generations()) if (each.state === 'kept') keep(state, each.number);
    },
    refuseTakeOver: () => refuseDocuments(state),
    takeOver: (wanted) => takeOver(state, wanted),
    switched: () => new Promise((resolve) => state.onSwitch.push(resolve)),
    drop: () => drop(state),
    async close() {
      for (const number of [...state.kept.keys()]) (await giveUpKept(state, number))?.close();
      state.live.graph.close();
      store.close();
    },
  };
}

function switchedReadSide(state: State): ReadSide {
  const current = () => {
    const { readSide } = state.live;
    if (readSide === undefined) throw new Error('the read side is not open');
    return readSide;
  };
  const lead = (epoch: number) => {
    state.role = async (readSide) => readSide?.lead(epoch);
    return current().lead(epoch);
  };
  const follow = () => {
    state.role = async (readSide) => readSide?.follow();
    return current().follow();
  };
  return followCurrent(current, { index: createSwitchedIndex(() => current().index), lead, follow });
}

async function takeOver(state: State, number: number): Promise<Generation> {
  const { store } = state;
  refuseDocuments(state);
  const found = store.generations().find((each) => each.number === number);
  if (found === undefined) throw new Error(`there is no generation ${number}`);
  if (found.number === state.live.number) return found;
  if (state.isSwitching) throw new Error('another generation is being taken over');
  state.isSwitching = true;
  try {
    const next = await openNext(state, number);
    // What others apply while a promise settles.
    while (next.graph.position() < state.live.graph.position()) await applyMissed(state, next);
    const before = switchTo(state, next);
    await before.readSide?.close();
    keep(state, before.number, before.graph);
    await removeOlder(state, before.number);
  } finally {
    state.missed = undefined;
    state.isSwitching = false;
  }
  return store.live();
}

/** Documents in indices outside the process are written by one generation: the one that a start finds live. */
const NOT_WHILE_RUNNING =
  'a server that keeps its read model in Elasticsearch takes over no generation while it runs: stop it, repeat the command and start it again; processes of the role api answer meanwhile';

function refuseDocuments({ plan, live }: Pick<State, 'plan' | 'live'>): void {
  if (plan?.graph.dependencies !== undefined && live.readSide !== undefined)
    throw new Error(NOT_WHILE_RUNNING);
}

/** In one step: every reader and every writer sees one generation or the other. */
function switchTo(state: State, next: Live): Live {
  const before = state.live;
  state.store.setLive(next.number);
  state.live = next;
  for (const resolve of state.onSwitch.splice(0)) resolve();
  return before;
}

/** Opens a generation beside the live one and brings it level with that. */
async function openNext(state: State, number: number): Promise<Live> {
  const { log } = state;
  const graph = (await giveUpKept(state, number)) ?? openGraph(state, number);
  try {
    for await (const events of log.readAll(graph.position(), { batchSize: EVENTS_AT_ONCE })) {
      await gently(() => graph.replay(events));
    }
    const readSide = state.live.readSide === undefined ? undefined : await openBeside(state, graph);
    const next = { number, graph, readSide };
    await bringLevel(state, next);
    return next;
  } catch (error) {
    graph.close();
    throw error;
  }
}

/** Opens a read side that does what the live one does. */
async function openBeside({ plan, log, role }: State, graph: ContentGraph): Promise<ReadSide | undefined> {
  const readSide = await plan?.open(graph, log, { gently: true });
  await role(readSide);
  return readSide;
}

/** First from the log, then with what was applied meanwhile: however fast others write, an end is reached. */
async function bringLevel(state: State, next: Live): Promise<void> {
  state.missed = [];
  const until = state.live.graph.position();
  for await (const events of state.log.readAll(next.graph.position(), { batchSize: EVENTS_AT_ONCE })) {
    const rest = events.filter(({ position }) => position <= until);
    if (rest.length > 0) await gently(() => applyTo(next, rest));
    if (rest.length < events.length) break;
  }
  await applyMissed(state, next);
}

async function applyMissed(state: State, next: Live): Promise<void> {
  while (state.missed !== undefined && state.missed.length > 0) {
    const events = state.missed.splice(0, EVENTS_AT_ONCE);
    await applyTo(
      next,
      events.filter(({ position }) => position > next.graph.position()),
    );
  }
}

async function applyTo({ graph, readSide }: Live, events: readonly StoredEvent[]): Promise<void> {
  if (events.length === 0) return;
  const batch = graph.apply(events);
  await readSide?.sink.apply(batch);
}

/** As long as the work took, others have the process. */
async function gently(work: () => unknown): Promise<void> {
  const started = performance.now();
  await work();
  await delay(performance.now() - started);
}

function openGraph({ data, plan }: ServedGenerationsOptions, number: number): ContentGraph {
  return openContentGraph(graphFile(data, number), plan?.graph);
}

/**
 * Has a generation follow the log, in large batches: they cost a fraction, and nobody reads it. It stops before content types
 * that change, as converting it takes long: what is missing is applied when the generation is taken up again.
 */
function keep(state: State, number: number, opened?: ContentGraph): void {
  const graph = opened ?? openGraph(state, number);
  const stop = new AbortController();
  const { signal } = stop;
  const { done, close } = state.log.subscribe(graph.position(), async (events) => {
    if (events.some(({ type }) => type === 'content-type-defined')) stop.abort();
    if (signal.aborted) return;
    graph.replay(events);
    await delay(KEPT_PAUSE_MS, undefined, { signal, ref: false }).catch(() => {});
  });
  // It is told when the generation is asked for.
  done.catch(() => {});
  const stopFollowing = () => {
    stop.abort();
    return close();
  };
  state.kept.set(number, { graph, stopFollowing });
}

/** The graph of a kept generation, which follows the log no more; undefined where it did not. */
async function giveUpKept({ kept }: State, number: number): Promise<ContentGraph | undefined> {
  const found = kept.get(number);
  kept.delete(number);
  await found?.stopFollowing();
  return found?.graph;
}

/** One generation is kept: what a rollback goes back to. */
async function removeOlder(state: State, kept: number): Promise<void> {
  const older = state.store.generations().filter((each) => each.state === 'kept' && each.number !== kept);
  for (const { number } of older) await remove(state, number);
}

async function drop(state: State): Promise<readonly number[]> {
  const numbers = state.store.generations().flatMap((each) => (each.state === 'kept' ? [each.number] : []));
  for (const number of numbers) await remove(state, number);
  return numbers;
}

async function remove(state: State, number: number): Promise<void> {
  const { store, data } = state;
  (await giveUpKept(state, number))?.close();
  store.forget(number);
  removeGeneration(data, number);
}
