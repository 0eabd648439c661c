import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { IndexWriter } from '../../projections/index-writer/index-writer.ts';
import type { OpenedIndices } from '../../shared/read-index/elasticsearch/indices/open-indices.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { OTHERS_READ_FOR_MS } from '../read-side/outside-generation.ts';
import type { DocumentRoleOptions } from './document-role.ts';
import type { DualWriteIndex } from './dual-write.ts';
import { MERGED_FROM, mergeFilled } from './merge-filled.ts';
import { retryOutages } from './retry-outages.ts';
import type { MakingIndices } from './watch-state.ts';

export type MakeAgainOptions = Pick<DocumentRoleOptions, 'cluster' | 'stale' | 'log' | 'report'> & {
  readonly epoch: number;
  readonly writer: IndexWriter;
  readonly index: DualWriteIndex;
};

const LOOK_EVERY_MS = 100;

/**
 * Makes the indices of some types again while the writer continues with all others. Resolves when searches find every document of these
 * types, or when the making ends before. Rejects with a message if the cluster refuses. Call it when all processes can read that reads of
 * the types are refused.
 */
export async function makeAgain(
  types: readonly Uid[],
  { cluster, stale, log, report, epoch, index, writer }: MakeAgainOptions,
  { signal, filling, adopt }: MakingIndices,
): Promise<void> {
  const called = performance.now();
  const open = () => cluster.openIndices({ log, replaceAll: false, distrusted: types, epoch });
  const opened = await retryOutages(report, signal, open);
  if (opened === undefined || signal.aborted) return;
  const { set, toBuild, made } = opened;
  filling(set);
  index.retarget(cluster.createWriter(set));
  // Outcomes of the previous index that have arrived already are recorded first.
  await nextTurn();
  stale.markLost(toBuild);
  writer.wake();
  const { backlog: documents } = writer.status();
  report.info({ types: toBuild, documents }, 'building the indices');
  // A process that has not heard of the fault reads the earlier index, which gets no documents any more. So no write is shown before
  // all have heard.
  const areReading = () => opened.replaces && performance.now() - called < OTHERS_READ_FOR_MS;
  while (!signal.aborted && (stale.areLost(toBuild) || areReading()))
    await delay(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
  await retryOutages(report, signal, cluster.createWriter(set).refresh);
  if (signal.aborted || (await retryOutages(report, signal, opened.promote)) !== true) return;
  await adopt(set, toBuild);
  // Never rejects: the indices are complete without it.
  if (documents >= MERGED_FROM) void mergeFilled(cluster, made, { report, signal });
  // Never rejects: a failure is left to the next start.
  if (opened.replaces) void removeLater(opened, signal);
}

/** Removes replaced indices when no process reads them any more. If they cannot be removed then, the next start removes them. */
async function removeLater({ removeReplaced }: OpenedIndices, signal: AbortSignal): Promise<void> {
  await delay(OTHERS_READ_FOR_MS, undefined, { signal, ref: false }).catch(() => {});
  if (!signal.aborted) await removeReplaced().catch(() => {});
}
