const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** Times and counts of deliveries. Times in milliseconds. */
export const WEBHOOK_LIMITS = {
  /** Waits before the attempts after the first, those of Standard Webhooks. After the last a delivery is parked. */
  retryMs: [5 * SECOND, 5 * MINUTE, 30 * MINUTE, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR)],
  /** Time for one attempt. */
  timeoutMs: 15 * SECOND,
  /** Deliveries of one hook that are sent at the same time. */
  inFlight: 10,
  /** A change of a document with more links than this has one delivery for all documents that show it. */
  maxRelated: 1_000,
  /** A failing delivery holds back later ones of its document no longer than this. */
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

/** After a rotation the earlier secret signs too, so that receivers can change it at any time of a day. */
export const KEEP_OLD_SECRET_MS = 24 * HOUR;
