import type { Backoff } from '../../shared/backoff.ts';
import { retry } from '../../shared/retry.ts';

export type LeadTermsOptions = {
  /** Epoch of the lease, if this process is the leader and has work in that role. */
  readonly epoch: () => number | undefined;
  /** Does the work of one term. Some time after it rejects, it is called again. */
  readonly lead: (epoch: number) => Promise<void>;
  /** Resolves when `epoch` may return something else. */
  readonly rest: () => Promise<unknown>;
  readonly signal: AbortSignal;
  readonly failed: (error: unknown) => void;
};

const BACKOFF: Backoff = { firstMs: 1_000, longestMs: 30_000 };

/** Does the work of a leader in each term of this process, until the signal is aborted. */
export async function leadTerms({ epoch, lead, rest, signal, failed }: LeadTermsOptions): Promise<void> {
  const turn = async () => {
    const led = epoch();
    if (led === undefined) await rest();
    else await lead(led);
  };
  while (!signal.aborted) await retry(turn, { backoff: BACKOFF, isJittered: true, signal, failed });
}
