/** Times and counts of deliveries. Times in milliseconds. */
export type WebhookLimits = {
  /** Waits before the attempts after the first, those of Standard Webhooks. After the last a delivery is parked. */
  readonly retryMs: readonly number[];
  /** Time for one attempt. */
  readonly timeoutMs: number;
  /** Deliveries of one hook that are sent at the same time. */
  readonly inFlight: number;
  /** A change of a document with more links than this has one delivery for all documents that show it. */
  readonly maxRelated: number;
  /** A failing delivery holds back later ones of its document no longer than this. */
  readonly holdMs: number;
  /** The longest Retry-After that is honoured. */
  readonly longestRetryAfterMs: number;
  /** Deliveries are removed after this time. */
  readonly keepMs: number;
  /** Interval for looking at deliveries that became due, and at requests of `varve webhook`. */
  readonly lookMs: number;
  /** Interval for writing progress to the log, while there is any. */
  readonly progressMs: number;
};

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

export const WEBHOOK_LIMITS: WebhookLimits = {
  retryMs: [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)],
  timeoutMs: 15 * SECOND,
  inFlight: 10,
  maxRelated: 1_000,
  holdMs: 5 * MINUTE,
  longestRetryAfterMs: 24 * HOUR,
  keepMs: 7 * 24 * HOUR,
  lookMs: SECOND,
  progressMs: MINUTE,
};

/** After a rotation the earlier secret signs too, so that receivers can change it at any time of a day. */
export const KEEP_OLD_SECRET_MS = 24 * HOUR;
