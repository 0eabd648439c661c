import { setTimeout as delay } from 'node:timers/promises';
import { type Backoff, backoffMs } from '../../shared/backoff.ts';
import { isPassingFailure } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { Report } from './report.ts';

const BACKOFF: Backoff = { firstMs: 250, longestMs: 5_000 };

/**
 * Tries until it succeeds or is refused: a cluster may start after this process, or long after. undefined once `signal` is
 * aborted. Rejects with a sentence when the cluster refuses for good.
 */
export async function persistently<Result>(
  report: Report,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!isPassingFailure(error)) throw new Error(`Elasticsearch refuses: ${(error as Error).message}`);
      report.warn({ reason: (error as Error).message }, 'waiting for Elasticsearch');
      await delay(backoffMs(failures, BACKOFF), undefined, { signal }).catch(() => {});
    }
  }
  return undefined;
}
