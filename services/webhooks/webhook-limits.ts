import { MAX_RELATED } from '../../shared/document/related-documents.ts';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** Times and counts of deliveries. Times in milliseconds. */
export const WEBHOOK_LIMITS = {
  /** Waits before each further attempt, as in Standard Webhooks. After the last attempt a delivery is parked. */
  retryMs: [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)],
  /** Time for one attempt. */
  timeoutMs: 15 * SECOND,
  /** Deliveries of one hook that are sent at the same time. */
  inFlight: 10,
  /** If a changed document has more links, one delivery covers all documents that show it. */
  maxRelated: MAX_RELATED,
  /** Maximum time for which a failing delivery holds back later deliveries of its document. */
  holdMs: 5 * MINUTE,
  /** The longest Retry-After that is honoured. */
  longestRetryAfterMs: 24 * HOUR,
  /** Deliveries are removed after this time. */
  keepMs: 7 * 24 * HOUR,
  /** Interval for looking at deliveries that became due, and at requests of `varve webhook`. */
  lookMs: SECOND,
  /** Interval for writing progress to the log, while there is any. */
  progressMs: MINUTE,
};
export type WebhookLimits = Readonly<typeof WEBHOOK_LIMITS>;

/** Time for which the earlier secret also signs after a rotation, so that receivers have time to change it. */
export const KEEP_OLD_SECRET_MS = 24 * HOUR;
