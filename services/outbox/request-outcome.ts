import type { PostResult } from './post-request.ts';

/** Result of a request for the sender of a delivery or a purge. */
export type RequestOutcome = {
  /** HTTP status of the answer. */
  readonly status: number | null;
  /** Reason to repeat the request; null: the receiver accepted it. */
  readonly failure: string | null;
  /** Milliseconds that a receiver which failed asks to wait; undefined if it does not ask. */
  readonly askedMs: number | undefined;
};

/** Decides whether a request succeeded. Any 2xx is a success, as in Standard Webhooks. `longestMs`: the longest wait that is honoured. */
export function outcomeOf(result: PostResult, longestMs: number): RequestOutcome {
  if (result.kind !== 'answered') return { status: null, failure: result.reason, askedMs: undefined };
  const { status, retryAfterMs } = result;
  if (status >= 200 && status < 300) return { status, failure: null, askedMs: undefined };
  const askedMs = retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, longestMs);
  return { status, failure: `the receiver answered ${status}`, askedMs };
}
