import { setTimeout as delay } from 'node:timers/promises';
import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { OtherSetIsLive } from '../../shared/read-index/elasticsearch/read/current-set.ts';
import type { Report } from './report.ts';

/** Options of outlastTypes. `log` is the identity of the log. */
export type OutlastOptions = { readonly log: string; readonly report: Report };

const LOOK_EVERY_MS = 250;

/**
 * Keeps a process that only reads on its indices after other processes changed the content types, until the new indices are live. Then
 * rejects with the error of `changed`. Resolves if `changed` resolves.
 */
export async function outlastTypes(
  changed: Promise<void>,
  { indices, isWhole }: Pick<ElasticsearchCluster, 'indices' | 'isWhole'>,
  { log, report }: OutlastOptions,
): Promise<void> {
  try {
    await changed;
  } catch (error) {
    await indices.stay();
    // A process that was paused, or could not read the log, may use the new ones already.
    if (!(await isWhole(log).catch(() => true))) throw error;
    report.warn(
      { reason: (error as Error).message },
      'the content types have changed: reads are answered as before until the new read model is live',
    );
    await untilOtherIsLive(indices);
    throw error;
  }
}

async function untilOtherIsLive(indices: ElasticsearchCluster['indices']): Promise<void> {
  for (;;) {
    try {
      await indices.refresh();
    } catch (error) {
      // Other errors, such as an unreachable cluster, do not say that another set is live.
      if (error instanceof OtherSetIsLive) return;
    }
    await delay(LOOK_EVERY_MS, undefined, { ref: false });
  }
}
