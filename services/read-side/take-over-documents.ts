import { setTimeout as delay } from 'node:timers/promises';
import type { Generation } from '../../projections/generations/generation.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { GenerationState, OpenGeneration } from './generation-state.ts';
import { keep, removeOlder } from './kept-generations.ts';
import { leadSearches, NOT_LEADING, type SwitchTarget, untilShown } from './lead-searches.ts';
import { applyMissed, openNext } from './open-next.ts';
import type { DocumentSets, OutsideIndices } from './read-side.ts';
import { switchTypes } from './switch-types.ts';

/** Processes that read ask for the live indices at most so long after they moved; answers under way take longer. */
const JOINT_AFTER_MS = 4_000;

const NO_INDICES = 'the generation has no indices in Elasticsearch: build another with varve rebuild';
const OTHER_INDICES =
  'the indices of the generation are gone, or of other content types than those in force: build another with varve rebuild';

/** Throws a sentence where another process writes the indices outside this one. */
export function refuseWithoutLead({ plan, live, leads }: GenerationState): void {
  if (plan?.outside !== undefined && live.readSide !== undefined && leads === undefined)
    throw new Error(NOT_LEADING);
}

/**
 * Makes a generation live whose index is outside the process. It is brought level beside the live one. From then on, until a while
 * after the switch, both are given every change, and writes are answered once both show them: whichever of the two a
 * process reads, it misses nothing. Between, one call of the cluster leads all searches from one to the other. Where the live
 * one is of earlier content types nothing is written meanwhile, and it is given nothing any more.
 */
export async function takeOverDocuments(
  state: GenerationState,
  { number, indices: set, state: was }: Generation,
  outside: OutsideIndices,
): Promise<void> {
  if (set === undefined) throw new Error(NO_INDICES);
  refuseWithoutLead(state);
  // Before others are asked for: who claims the lead after that refuses this.
  const epoch = state.leads?.epoch ?? (await outside.newestEpoch());
  if (state.live.readSide === undefined) await state.refuseElsewhere?.();
  await state.leads?.ready;
  const open = ({ registry }: ContentGraph) => openFitting(outside, registry(), state.log, set);
  // Before a graph is converted in vain. One in the making may have content types that the live one comes to by this.
  if (was !== 'building') await (await open(state.live.graph)).close();
  let sets: DocumentSets | undefined;
  try {
    const next = await openNext(state, number, set, async (graph) => {
      sets = await open(graph);
    });
    await switchTo(state, next, { set, sets: sets as DocumentSets, epoch });
  } finally {
    await sets?.close();
  }
}

/** Rejects with a sentence where the indices are not all there, made for these content types. */
async function openFitting(
  outside: OutsideIndices,
  registry: ReturnType<ContentGraph['registry']>,
  log: EventStore,
  set: IndexSet,
): Promise<DocumentSets> {
  const sets = await outside.open(registry, log);
  if (await sets.fits(set)) return sets;
  await sets.close();
  throw new Error(OTHER_INDICES);
}

function switchTo(state: GenerationState, next: OpenGeneration, target: SwitchTarget): Promise<void> {
  if (state.live.readSide === undefined) return switchAtRest(state, next, target);
  return state.isEarlier ? switchTypes(state, next, target) : switchJointly(state, next, target);
}
/** Nobody reads or writes here meanwhile. */
async function switchAtRest(
  state: GenerationState,
  next: OpenGeneration,
  target: SwitchTarget,
): Promise<void> {
  try {
    inheritStale(state.live, next);
    await next.readSide?.lead(0);
    await untilShown(next.readSide, next.graph.position(), new AbortController().signal);
  } finally {
    await next.readSide?.close();
  }
  const before = state.live;
  await leadSearches(state, next.number, target);
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
  target: SwitchTarget,
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
    // What it says is true of its own indices alone, until the others show as much: who was told has to find it there.
    const told = await before.readSide?.announcing?.stop();
    await untilShown(next.readSide, told ?? 0n, end.signal);
    end.signal.throwIfAborted();
    await leadSearches(state, next.number, target);
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
