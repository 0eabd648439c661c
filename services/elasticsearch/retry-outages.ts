import type { Backoff } from '../../shared/backoff.ts';
import { isPassingFailure } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { retry } from '../../shared/retry.ts';
import { LogFailed } from '../fleet/lease-terms.ts';
import type { Report } from './report.ts';

const BACKOFF: Backoff = { firstMs: 250, longestMs: 5_000 };

/**
 * Repeats a call until it succeeds or is refused: a cluster may start long after this process, and the log may fail. Resolves with undefined
 * when `signal` is aborted. Rejects with a sentence if the cluster refuses a server that has never answered: its settings are wrong. A server
 * that has answered waits, because a key or a right comes back.
 */
export function retryOutages<Result>(
  report: Report,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const failed = (error: unknown) => {
    if (signal.aborted) return;
    const { message } = error as Error;
    const isOfLog = error instanceof LogFailed;
    if (!isOfLog && !isPassingFailure(error) && report.hasServed !== true)
      throw new Error(`Elasticsearch refuses: ${message}`);
    report.warn({ reason: message }, `waiting for ${isOfLog ? 'the event log' : 'Elasticsearch'}`);
  };
  return retry(work, { backoff: BACKOFF, signal, failed });
}
