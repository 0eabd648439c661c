import { setTimeout as delay } from 'node:timers/promises';
import type { Rebuild, RebuildScope } from '../../projections/generations/generation.ts';
import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { staleDocumentsOf } from '../../projections/graph/stale/stale-documents.ts';
import { startIndexWriter } from '../../projections/index-writer/index-writer.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import { WORLDS, type World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { MERGED_FROM } from '../elasticsearch/merge-filled.ts';
import { reportWriter } from '../elasticsearch/report.ts';
import { writeOnly } from '../elasticsearch/write-only.ts';
import type { DocumentSets, WrittenIndices } from '../read-side/outside-indices.ts';
import { removeIndices } from '../read-side/remove-indices.ts';
import { enterPhase, type PhaseMeter, type RebuildHost } from './rebuild-host.ts';

const LOOK_EVERY_MS = 100;
/** Time for which an index may be missing: nodes hear late of a new one, and a process that lost the lease cancels its rebuild sooner. */
const MISSING_MS = 60_000;
/** Error type of Elasticsearch. */
const MISSING = 'index_not_found_exception';
const REMOVED = 'the indices of the rebuild were removed from Elasticsearch: run the command again';

/** Indices of the generation that a rebuild makes. */
export type GenerationIndices = {
  readonly sets: DocumentSets;
  readonly set: IndexSet;
  /** Indices that the live generation does not share. */
  readonly own: WrittenIndices;
};

/**
 * Opens the indices of the new generation and makes missing ones. Resolves with undefined if the index is inside the process. Their names
 * are recorded before the first is made, so that a cancelled rebuild leaves none behind.
 */
export async function openNextIndices(
  host: RebuildHost,
  { generation, scope }: Pick<Rebuild, 'generation' | 'scope'>,
  made: ContentGraph,
): Promise<GenerationIndices | undefined> {
  const { plan, store, log } = host;
  if (plan.outside === undefined) return undefined;
  const sets = await plan.outside.open(made.registry(), log, store.directory());
  try {
    const known = await usableSet(host, { generation, scope }, made, sets);
    const set = known ?? (await sets.plan(scope.graph ? {} : scope));
    if (known === undefined) store.noteIndices(generation, set);
    await sets.make(set);
    const own = await plan.outside.own(set);
    refuseOthers(made, scope, own);
    return { sets, set, own };
  } catch (error) {
    await sets.close();
    throw error;
  }
}

/**
 * Returns the indices of an earlier attempt; undefined if there are none that can be used. If the content types have changed since, or an
 * index was deleted, it removes them, and all documents have to be made again.
 */
async function usableSet(
  { plan, store }: RebuildHost,
  { generation, scope }: Pick<Rebuild, 'generation' | 'scope'>,
  made: ContentGraph,
  sets: DocumentSets,
): Promise<IndexSet | undefined> {
  const known = store.generations().find(({ number }) => number === generation)?.indices;
  const isWholeSet = scope.graph || scope.copy === true;
  if (known === undefined || !isWholeSet || (await sets.fits(known))) return known;
  await removeIndices(store, generation, plan.outside);
  staleDocumentsOf(made).invalidate();
  return undefined;
}

/** Rejects like refuseOthers: another leader may have switched to other indices meanwhile. */
export async function refuseReplaced(
  { plan }: RebuildHost,
  { scope }: Rebuild,
  made: ContentGraph,
  { set }: GenerationIndices,
): Promise<void> {
  if (plan.outside !== undefined) refuseOthers(made, scope, await plan.outside.own(set));
}

/** Throws if indices that the rebuild does not make have changed since it began: no process would write them. */
function refuseOthers(made: ContentGraph, { graph, type, world }: RebuildScope, own: WrittenIndices): void {
  const isMade = (uid: Uid, inWorld: World) =>
    graph || ((type ?? uid) === uid && (world === undefined || world === inWorld));
  for (const uid of made.registry().contentTypes.keys()) {
    for (const each of WORLDS) {
      if (isMade(uid, each) === own(uid, each)) continue;
      throw new Error(
        'the live indices have changed since the rebuild began: cancel it with varve rebuild --cancel',
      );
    }
  }
}

/**
 * Writes the stale documents: at first all, later those that the log has changed. The graph records which are stale, so an interrupted
 * rebuild continues at the same document.
 */
export async function fillDocuments(
  host: RebuildHost,
  rebuild: Rebuild,
  made: ContentGraph,
  { sets, set, own }: GenerationIndices,
): Promise<void> {
  const stale = staleDocumentsOf(made);
  if (!stale.isComplete()) {
    const types = [...made.registry().contentTypes.keys()];
    stale.markAll(types.filter((type) => own(type, 'draft') || own(type, 'published')));
  }
  const { rows: total } = stale.count();
  const meter = enterPhase(host, rebuild, 'indexing', { total });
  let failure: Error | undefined;
  const index = gently(writeOnly(sets.documents(set).index, own), meter, (error) => {
    failure ??= error;
  });
  const writer = startIndexWriter({
    graph: made,
    index,
    report: reportWriter(host.report),
    isThrottled: () => host.throttle.isSparing,
  });
  let isIdle = false;
  const rest = writer.caughtUp().then(() => {
    isIdle = true;
  });
  try {
    while (!isIdle && failure === undefined) {
      await Promise.race([rest, writer.done, delay(LOOK_EVERY_MS)]);
      // The rebuild may be cancelled while the index accepts nothing.
      await meter.worked(0, 0);
    }
    if (failure !== undefined) throw failure;
    meter.ended();
  } finally {
    writer.stop();
    await writer.close();
    // The next attempt makes the indices again, and all documents.
    if (failure?.message === REMOVED) stale.invalidate();
  }
  if (total >= MERGED_FROM) await mergeUnlessInterrupted(sets, set, meter);
}

/** Merges the segments of filled indices. Rejects if the rebuild is to pause or to be cancelled. */
async function mergeUnlessInterrupted(sets: DocumentSets, set: IndexSet, meter: PhaseMeter): Promise<void> {
  const stopping = new AbortController();
  let isMerged = false;
  const merging = sets.merge(set, stopping.signal).finally(() => {
    isMerged = true;
  });
  try {
    while (!isMerged) {
      await Promise.race([merging, delay(LOOK_EVERY_MS)]);
      await meter.worked(0, 0);
    }
  } finally {
    stopping.abort();
    await merging;
  }
}

/** Returns an index that pauses between requests as the throttle says. `interrupted` is also called if the index is missing for a minute. */
function gently(index: DocumentIndex, meter: PhaseMeter, interrupted: (error: Error) => void): DocumentIndex {
  let missingSince: number | undefined;
  const note = (isMissing: boolean): void => {
    const now = performance.now();
    missingSince = isMissing ? (missingSince ?? now) : undefined;
    if (missingSince !== undefined && now - missingSince >= MISSING_MS) interrupted(new Error(REMOVED));
  };
  return {
    ...index,
    async write(documents, options) {
      const started = performance.now();
      const outcomes = await index.write(documents, options);
      note(outcomes.some((each) => each.kind === 'again' && each.reason.startsWith(MISSING)));
      await meter.worked(documents.length, performance.now() - started).catch(interrupted);
      return outcomes;
    },
    async refresh() {
      try {
        await index.refresh();
      } catch (error) {
        note((error as Error).message.includes(MISSING));
        throw error;
      }
    },
  };
}
