import { setTimeout as delay } from 'node:timers/promises';
import type { Rebuild } from '../../projections/generations/generation.ts';
import type { GenerationStore } from '../../projections/generations/generation-store.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { readParkedKeys, readStaleKeys } from '../../projections/graph/stale/read-stale-keys.ts';
import { staleDocumentsOf } from '../../projections/graph/stale/stale-documents.ts';
import { graphFile } from '../../projections/graph/store/generation-files.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { DocumentSets, EarlierIndices, OutsideIndices } from './outside-indices.ts';
import type { ReadSidePlan } from './read-side.ts';

/** Milliseconds until every reading process knows the new live indices. Answers in flight may take longer. */
export const OTHERS_READ_FOR_MS = 4_000;

const LOOK_EVERY_MS = 500;

/** Reason of a rebuild or a switch that ends because another process is the leader. */
export const NOT_LEADING =
  'another process has become the leader, which writes the documents in Elasticsearch: run the command again';
/** Error of a process that cannot switch over, because another process is the leader. */
export class LeaderElsewhere extends Error {
  constructor() {
    super(NOT_LEADING);
  }
}

/** Returns why a rebuild was cancelled, unless a leader can make it again; undefined: it was not, or nobody knows why. */
export function finalReason({ phase, message }: Pick<Rebuild, 'phase' | 'message'>): string | undefined {
  return phase === 'cancelled' && !isLeaderElsewhere(message) ? message : undefined;
}

/** Returns whether a failure, or the recorded reason of one, is that another process is the leader. */
export function isLeaderElsewhere(reason: string | undefined): boolean {
  return reason?.endsWith(NOT_LEADING) ?? false;
}

export const NO_INDICES =
  'the generation has no indices in Elasticsearch: build another generation with varve rebuild';
const OTHER_INDICES =
  'the indices of the generation do not exist, or have other content types than those in force: build another generation with varve rebuild';

/** A generation that is not live, and its indices outside the process. */
export type OutsideGeneration = {
  readonly data: string;
  readonly log: EventStore;
  readonly store: GenerationStore;
  readonly plan: ReadSidePlan & { readonly outside: OutsideIndices };
  readonly number: number;
  readonly graph: ContentGraph;
  readonly set: IndexSet;
};

/** Rejects with a message if some of the indices do not exist, or were made for other content types. */
export async function openFitting(
  outside: OutsideIndices,
  graph: Pick<ContentGraph, 'registry'>,
  { log, store }: { readonly log: EventStore; readonly store: Pick<GenerationStore, 'directory'> },
  set: IndexSet,
): Promise<DocumentSets> {
  const sets = await outside.open(graph.registry(), log, store.directory());
  if (await sets.fits(set)) return sets;
  await sets.close();
  throw new Error(OTHER_INDICES);
}

/**
 * Marks the documents that the live generation has not written yet as stale, and those that the index has refused: the next generation has no
 * record of them. Both generations can have indices in common, which the next one writes from now on.
 */
export function inheritStale({ data, store, graph, set }: OutsideGeneration, live: IndexSet): void {
  const shared = new Set(Object.values(live));
  if (!Object.values(set).some((index) => shared.has(index))) return;
  const stale = staleDocumentsOf(graph);
  const file = graphFile(data, store.live().number);
  const keys = readStaleKeys(file);
  if (keys === undefined) stale.markAll([...graph.registry().contentTypes.keys()]);
  else stale.remake([...keys, ...readParkedKeys(file)]);
}

/**
 * Switches searches to the indices of a generation that shows everything, and makes the generation live. The call to the cluster is the
 * commit: if this process is killed during it, the next start asks the cluster (see `finishSwitch`). Resolves with the indices that served
 * before, which other processes still read for a moment. If the content types differ, it waits for that time, and resolves with undefined.
 * Rejects with a message if another process has become leader. `epoch`: the epoch of this leader, or the newest one without a leader.
 */
export async function switchAliases(
  { store, plan, log, number, graph, set }: OutsideGeneration,
  epoch: number,
): Promise<EarlierIndices | undefined> {
  const sets = await openFitting(plan.outside, graph, { log, store }, set);
  try {
    const before = await sets.live();
    const isAlike = await sets.fits(before);
    const writes = await plan.outside.own(set);
    store.noteIndices(store.live().number, before);
    store.markSwitch(number);
    if (!(await sets.promote(set, epoch))) {
      store.markSwitch(undefined);
      throw new LeaderElsewhere();
    }
    store.setLive(number);
    if (isAlike) return { set: before, writes, forMs: OTHERS_READ_FOR_MS };
    await delay(OTHERS_READ_FOR_MS);
    return undefined;
  } finally {
    await sets.close();
  }
}

/** Switches the generation of a data directory that no process serves. */
export async function switchClosedGeneration(generation: OutsideGeneration): Promise<void> {
  const { plan, graph, log, set, store } = generation;
  const epoch = await plan.outside.newestEpoch();
  const sets = await openFitting(plan.outside, graph, { log, store }, set);
  const live = await sets.live().finally(sets.close);
  inheritStale(generation, live);
  const readSide = await plan.open(graph, log, { kind: 'other', set });
  try {
    await readSide.lead(0);
    const position = graph.position();
    while ((await Promise.race([readSide.shows(position, LOOK_EVERY_MS), readSide.done])) === false);
  } finally {
    await readSide.close();
  }
  await switchAliases(generation, epoch);
}
