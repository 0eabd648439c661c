import { setTimeout as delay } from 'node:timers/promises';
import type { IndexWriter } from '../../projections/index-writer/index-writer.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { fromLog } from '../fleet/lease-terms.ts';
import { OTHERS_READ_FOR_MS } from '../read-side/outside-generation.ts';
import type { ServedIndices } from '../read-side/read-side.ts';
import type { DocumentRoleOptions } from './document-role.ts';
import type { DualWriteIndex } from './dual-write.ts';
import { findReplaced } from './index-identities.ts';
import { MERGED_FROM, mergeFilled } from './merge-filled.ts';
import { retryOutages } from './retry-outages.ts';
import { writeOnly } from './write-only.ts';

export type BeginWritingOptions = DocumentRoleOptions & {
  readonly epoch: number;
  /** Indices to write. Missing live indices are created. In epoch 0 this process is not the leader yet. */
  readonly indices: ServedIndices;
  /** Aborted when this process no longer writes documents. */
  readonly signal: AbortSignal;
  /** Starts to write a set. */
  readonly start: (set: IndexSet) => { readonly writer: IndexWriter; readonly index: DualWriteIndex };
  /** Resolves like `DocumentRole.shows`, for searches of the set that is written. */
  readonly showsWritten: (position: bigint, timeoutMs: number) => Promise<boolean>;
};

const LOOK_EVERY_MS = 500;

/** The indices that this process writes. */
export type BegunWriting = {
  readonly set: IndexSet;
  /** Types whose indices must be made again. Reads of all others can be answered. */
  readonly lost: readonly Uid[];
};

/**
 * Begins to write the documents. Resolves when reads of this process go to the set that it writes, and that set is complete but for lost
 * types. Resolves with undefined if this process must not write, or if `signal` was aborted: then another role reads, and this function changes
 * nothing more.
 */
export async function beginWriting(beginning: BeginWritingOptions): Promise<BegunWriting | undefined> {
  try {
    return await begin(beginning);
  } catch (error) {
    // The error may come from a newer leader that removed indices which this process wanted to use.
    if (beginning.epoch > 0 && !(await beginning.isNewest(beginning.epoch))) return undefined;
    throw error;
  }
}

async function begin(beginning: BeginWritingOptions): Promise<BegunWriting | undefined> {
  const { cluster, graph, stale, indices, signal, report, epoch } = beginning;
  const refusal = await retryOutages(report, signal, beginning.own);
  if (refusal !== undefined) throw new Error(refusal);
  // The fence is raised before the live indices are read: from then on no previous leader can switch the aliases. Epoch
  // 0 belongs to no leader.
  const isNewest =
    epoch === 0 ||
    (await retryOutages(report, signal, () =>
      cluster.fence.raise(epoch, () => fromLog(beginning.isNewest(epoch))),
    ));
  // This process will learn of the new leader in a moment.
  if (isNewest !== true || signal.aborted) return undefined;
  if (indices.kind !== 'live') {
    cluster.use(indices.set);
    if (!stale.isComplete()) stale.markAll([...graph.registry().contentTypes.keys()]);
    return (await writeSet(beginning, indices)) ? { set: indices.set, lost: [] } : undefined;
  }
  const isOther = await retryOutages(report, signal, beginning.progress.isOther);
  if (isOther === true) {
    report.warn({}, 'the indices show another history of this log: they are made again');
    stale.invalidate();
  }
  return signal.aborted ? undefined : writeLive(beginning);
}

/** Writes the live indices. Makes the missing ones first, unless reads of the other types can be answered meanwhile. */
async function writeLive(beginning: BeginWritingOptions): Promise<BegunWriting | undefined> {
  const { cluster, graph, stale, log, isWhole, signal, report, start } = beginning;
  // The previous leader may have switched to another generation.
  cluster.indices.release();
  const found = await retryOutages(report, signal, async () => {
    const live = await cluster.indices.refresh();
    const [replaced, unusable] = await Promise.all([
      findReplaced(cluster.watched, log, live),
      cluster.unusable(log),
    ]);
    return { live, replaced, unusable };
  });
  if (found === undefined || signal.aborted) return undefined;
  const { live, replaced, unusable } = found;
  const lost = [...new Set([...replaced, ...unusable.missing])];
  const isPartial = lost.length > 0 && lost.length < graph.registry().contentTypes.size;
  // Complete indices are useless unless we know which documents are stale.
  const isUsable =
    stale.isComplete() && unusable.outdated.length === 0 && (lost.length === 0 ? isWhole : isPartial);
  if (!isUsable) return makeWhole(beginning, lost);
  cluster.use(live);
  const { writer } = start(live);
  if (!isWhole) await Promise.race([writer.allVisible(graph.position()), writer.done]);
  return signal.aborted ? undefined : { set: live, lost };
}

/** Writes a set that is not live, until searches see all of it. Then switches the aliases to it if this process is the leader. */
async function writeSet(
  { epoch, graph, cluster, signal, start, showsWritten }: BeginWritingOptions,
  indices: Exclude<ServedIndices, { readonly kind: 'live' }>,
): Promise<boolean> {
  const isNext = indices.kind === 'next';
  if (isNext && epoch > 0) await indices.inherit();
  if (signal.aborted) return false;
  const { writer, index } = start(indices.set);
  if (!isNext) return true;
  const position = graph.position();
  while (
    !signal.aborted &&
    !(await Promise.race([showsWritten(position, LOOK_EVERY_MS), writer.done.then(() => false)]))
  );
  if (signal.aborted || epoch === 0) return !signal.aborted;
  const earlier = await indices.switch(epoch);
  if (earlier !== undefined)
    index.alsoWrite(writeOnly(cluster.createWriter(earlier.set), earlier.writes), earlier.forMs);
  return !signal.aborted;
}

/** Makes and fills the missing indices. Until they are complete, reads go to the indices with the aliases. */
async function makeWhole(
  beginning: BeginWritingOptions,
  distrusted: readonly Uid[],
): Promise<BegunWriting | undefined> {
  const { cluster, graph, stale, log, progress, report, signal, start, epoch } = beginning;
  const replaceAll = !stale.isComplete();
  await retryOutages(report, signal, cluster.ready);
  const opening = { log, replaceAll, distrusted, epoch };
  const indices = await retryOutages(report, signal, () => cluster.openIndices(opening));
  if (indices === undefined || signal.aborted) return undefined;
  const { toBuild, made, set } = indices;
  if (toBuild.length > 0 || replaceAll) stale.markAll(toBuild, replaceAll);
  const { writer } = start(set);
  const { backlog: documents } = writer.status();
  if (toBuild.length > 0) {
    report.info({ types: toBuild, documents }, 'building the indices');
    await Promise.race([writer.caughtUp(), writer.done]);
    if ((await retryOutages(report, signal, indices.promote)) !== true) return undefined;
    // Only now: other processes wait for it before they read.
    const forget = async () => (await progress.isOther()) && (await cluster.forgetProgress(log));
    if (replaceAll) await retryOutages(report, signal, forget);
  } else {
    await Promise.race([writer.allVisible(graph.position()), writer.done]);
  }
  // The marks are kept until here: after a crash the earlier indices are still live, and lack these documents.
  if (replaceAll) stale.complete();
  if (signal.aborted) return undefined;
  cluster.use(set);
  await retryOutages(report, signal, cluster.ready);
  await retryOutages(report, signal, cluster.createWriter(set).refresh);
  // Reads do not wait for this, and it never rejects.
  if (toBuild.length > 0 && documents >= MERGED_FROM) void mergeFilled(cluster, made, { report, signal });
  if (indices.replaces) {
    // Other processes still read the earlier indices for a moment, although no process writes them any more.
    await delay(OTHERS_READ_FOR_MS, undefined, { signal }).catch(() => {});
    await retryOutages(report, signal, indices.removeReplaced);
  }
  return signal.aborted ? undefined : { set, lost: [] };
}
