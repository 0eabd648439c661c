import { setTimeout as delay } from 'node:timers/promises';
import type { Generation } from '../../projections/generations/generation.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { DocumentSets, OutsideIndices, ReadSide } from '../read-side.ts';
import type { GenerationState, OpenGeneration } from './generation-state.ts';
import { keep, removeOlder } from './kept-generations.ts';
import { applyMissed, openNext } from './open-next.ts';

/** Processes that read ask for the live indices at most so long after they moved; answers under way take longer. */
const JOINT_AFTER_MS = 4_000;
const LOOK_EVERY_MS = 500;

const NOT_LEADING =
  'another process writes the documents in Elasticsearch: run the command where the data directory of the leader is';
const NO_INDICES = 'the generation has no indices in Elasticsearch: make another with varve rebuild';
const OTHER_INDICES =
  'the indices of the generation are gone, or of other content types than those in force: make another with varve rebuild';

/** Throws a sentence where another process writes the indices outside this one. */
export function refuseWithoutLead({ plan, live, leads }: GenerationState): void {
  if (plan?.outside !== undefined && live.readSide !== undefined && leads === undefined)
    throw new Error(NOT_LEADING);
}

/**
 * Makes a generation live whose index is outside the process. It is brought level beside the live one. From then on, until a while
 * after the switch, both are given every change, and writes are answered once both show them: whichever of the two a
 * process reads, it misses nothing. Between, one call of the cluster leads all searches from one to the other.
 */
export async function takeOverDocuments(
  state: GenerationState,
  { number, indices: set }: Generation,
  outside: OutsideIndices,
): Promise<void> {
  if (set === undefined) throw new Error(NO_INDICES);
  refuseWithoutLead(state);
  if (state.live.readSide === undefined) await state.refuseElsewhere?.();
  await state.leads;
  const sets = await outside.open(state.live.graph.registry(), state.log);
  try {
    if (!(await sets.fits(set))) throw new Error(OTHER_INDICES);
    const next = await openNext(state, number, set);
    if (state.live.readSide === undefined) await switchAtRest(state, next, set, sets);
    else await switchJointly(state, next, set, sets);
  } finally {
    await sets.close();
  }
}

/** Nobody reads or writes here meanwhile. */
async function switchAtRest(
  state: GenerationState,
  next: OpenGeneration,
  set: IndexSet,
  sets: DocumentSets,
): Promise<void> {
  try {
    inheritStale(state.live, next);
    await next.readSide?.lead(0);
    await untilShown(next.readSide, next.graph.position(), new AbortController().signal);
  } finally {
    await next.readSide?.close();
  }
  const before = state.live;
  await promote(state, next.number, set, sets);
  state.live = { ...next, readSide: undefined };
  keep(state, before.number, { graph: before.graph, readSide: undefined });
  await removeOlder(state, before.number);
}

/** Indices that both have: what the live generation left to be written is the next one's work. */
function inheritStale({ graph: { stale: before } }: OpenGeneration, { graph }: OpenGeneration): void {
  const { stale } = graph;
  if (before === undefined || stale === undefined) return;
  if (!before.isComplete()) stale.markAll([...graph.registry().contentTypes.keys()]);
  const { rows } = before.count();
  for (const lane of ['prompt', 'backlog'] as const) stale.remake(before.next(lane, rows, new Map()));
}

async function switchJointly(
  state: GenerationState,
  next: OpenGeneration,
  set: IndexSet,
  sets: DocumentSets,
): Promise<void> {
  const before = state.live;
  const end = new AbortController();
  const over = Promise.withResolvers<void>();
  state.joint = { beside: next, end, over: over.promise };
  try {
    // What others apply while a promise settles.
    while (next.graph.position() < before.graph.position()) await applyMissed(state, next);
    const position = before.graph.position();
    await untilShown(next.readSide, position, end.signal);
    await untilShown(before.readSide, position, end.signal);
    // What it says is true of its own indices alone.
    await before.readSide?.announcing?.stop();
    end.signal.throwIfAborted();
    await promote(state, next.number, set, sets);
    // What the live graph alone was given by now: nothing comes between this and the next line.
    while (next.graph.position() < before.graph.position()) await applyMissed(state, next);
    state.live = next;
  } catch (error) {
    before.readSide?.announcing?.start();
    await endJoint(state, next);
    next.graph.close();
    over.resolve();
    throw end.signal.aborted ? new Error(NOT_LEADING) : error;
  }
  state.joint = { beside: before, end, over: over.promise };
  next.readSide?.announcing?.start();
  for (const resolve of state.onSwitch.splice(0)) resolve();
  void stayJoint(state, before, end.signal).finally(over.resolve);
}

/** The commit is the cluster's: a process that is killed here asks it, see `finishSwitch`. */
async function promote(
  { store }: GenerationState,
  number: number,
  set: IndexSet,
  sets: DocumentSets,
): Promise<void> {
  store.noteIndices(store.live().number, await sets.live());
  store.markSwitch(number);
  await sets.promote(set);
  store.setLive(number);
}

async function stayJoint(state: GenerationState, before: OpenGeneration, signal: AbortSignal): Promise<void> {
  await delay(JOINT_AFTER_MS, undefined, { signal, ref: false }).catch(() => {});
  await endJoint(state, before);
  if (state.isClosed) return before.graph.close();
  keep(state, before.number, { graph: before.graph, readSide: undefined });
  await removeOlder(state, before.number).catch(() => {});
}

async function endJoint(state: GenerationState, { readSide }: OpenGeneration): Promise<void> {
  state.joint = undefined;
  state.missed = undefined;
  await readSide?.close();
}

/** Rejects when the signal is aborted, or the index cannot be kept level any more. */
async function untilShown(
  readSide: ReadSide | undefined,
  position: bigint,
  signal: AbortSignal,
): Promise<void> {
  if (readSide?.shows === undefined) return;
  for (;;) {
    signal.throwIfAborted();
    const isShown = await Promise.race([
      readSide.shows(position, LOOK_EVERY_MS),
      readSide.done.then(() => false),
    ]);
    if (isShown) return;
  }
}
