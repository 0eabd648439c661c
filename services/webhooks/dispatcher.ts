import { jittered } from '../../shared/backoff.ts';
import { isBusy } from '../../shared/sqlite/failures.ts';
import { whenUnlocked } from '../../shared/sqlite/when-unlocked.ts';
import type { Webhook } from '../../shared/webhooks/webhook-state.ts';
import { type PostResult, postRequest } from '../outbox/post-request.ts';
import { outcomeOf, type RequestOutcome } from '../outbox/request-outcome.ts';
import type { Attempt, StoredDelivery } from './delivery-store.ts';
import { createDueDeliveries } from './due-deliveries.ts';
import type { TermOptions, WebhookReport } from './term-options.ts';
import type { WebhookCommands } from './webhook-commands.ts';
import type { WebhookLimits } from './webhook-limits.ts';
import { signatureHeaders } from './webhook-secret.ts';

export type DispatcherOptions = Pick<TermOptions, 'store' | 'hooks' | 'limits' | 'resolve'> & {
  readonly commands: Pick<WebhookCommands, 'open' | 'disable'>;
  readonly report: Pick<WebhookReport, 'attempted' | 'error'>;
};

/** Status of a receiver that wants no more deliveries. */
const GONE = 410;
const TROUBLE_MS = 30_000;
/** Number of looks that find the file locked, until it is reported. */
const LOCKED_LOOKS = 10;

/** Header that Strapi sends too. The hook's own headers may replace it. */
const USER_AGENT = { 'user-agent': 'node' };

/** Sends due deliveries. Deliveries of one document are sent one after the other, in order. */
export function createDispatcher(options: DispatcherOptions) {
  const { store, limits, report } = options;
  const flying = new Map<string, { readonly hook: string; readonly done: Promise<void> }>();
  /** Hooks whose results could not be stored, and until when nothing is sent to them. */
  const troubles = new Map<string, number>();
  const due = createDueDeliveries(store, flying);
  const closing = new AbortController();
  /** Number of looks in a row that failed because another process had locked the file. */
  let lockedLooks = 0;
  /** The latest time that the clock has shown, also in an earlier process. */
  let latest = store.newestAt() ?? 0;

  const send = async (hook: Webhook, delivery: StoredDelivery): Promise<void> => {
    const result = await postDelivery(options, hook, delivery, closing.signal).catch(
      (error: Error): PostResult => ({ kind: 'failed', reason: error.message }),
    );
    if (closing.signal.aborted) return;
    const now = await whenUnlocked(readClock, closing.signal);
    const outcome = outcomeOf(result, limits.longestRetryAfterMs);
    const attempt = decideAttempt(limits, delivery, outcome, now);
    const { status, askedMs } = outcome;
    await whenUnlocked(() => {
      if (askedMs !== undefined && status !== GONE) store.pause(hook.id, now + askedMs);
      store.attempted(delivery, attempt);
    }, closing.signal);
    report.attempted(delivery, attempt);
    if (status === GONE)
      void options.commands.disable(hook.id, 'the receiver answered 410 Gone').then(() => {}, report.error);
  };
  const start = (hook: Webhook, delivery: StoredDelivery): void => {
    const done = send(hook, delivery)
      .catch((error: unknown) => {
        // The result could not be stored: without a pause the same delivery would be sent again at once.
        troubles.set(hook.id, Date.now() + TROUBLE_MS);
        report.error(error);
      })
      .finally(() => {
        flying.delete(delivery.id);
        look();
      });
    flying.set(delivery.id, { hook: hook.id, done });
  };
  const isPaused = (hook: Webhook, now: number): boolean => {
    const asked = store.pausedUntil(hook.id);
    if (hook.status === 'active') return Math.max(asked ?? 0, troubles.get(hook.id) ?? 0) > now;
    // A paused webhook is tried at once when it is resumed, so the receiver's pause ends here.
    if (asked !== undefined) store.pause(hook.id, undefined);
    return true;
  };
  const lookAt = (hook: Webhook, now: number): void => {
    if (isPaused(hook, now)) return;
    const busy = [...flying.values()].filter((each) => each.hook === hook.id).length;
    if (busy >= limits.inFlight) return;
    for (const delivery of due.take(hook.id, now, limits.inFlight - busy)) start(hook, delivery);
  };
  /** Returns milliseconds since 1970. If the clock was set back, shifts all waiting times, so that nothing waits longer. */
  const readClock = (): number => {
    const now = Date.now();
    if (now < latest) {
      store.setBack(latest - now);
      for (const [hook, until] of troubles) troubles.set(hook, until - (latest - now));
    }
    latest = now;
    return now;
  };
  const lookAtAll = (prepare: (now: number) => void): void => {
    if (closing.signal.aborted) return;
    try {
      const now = readClock();
      prepare(now);
      for (const hook of options.hooks().values()) lookAt(hook, now);
      lockedLooks = 0;
    } catch (error) {
      if (isBusy(error)) lockedLooks += 1;
      // The lock of a short transaction needs no report. The next look comes soon.
      if (!isBusy(error) || lockedLooks % LOCKED_LOOKS === 0) report.error(error);
    }
  };
  const look = () => lookAtAll(() => {});
  /** Looks at all deliveries that wait, which is too expensive after each attempt. */
  const lookAfresh = () => {
    due.forget();
    lookAtAll((now) => store.park(now - limits.holdMs, now));
  };
  const timer = setInterval(lookAfresh, limits.lookMs);
  return {
    /** Looks for deliveries that are due. */
    look,
    /** Ends requests in flight. Their deliveries keep their state. */
    async close(): Promise<void> {
      clearInterval(timer);
      closing.abort();
      await Promise.all([...flying.values()].map(({ done }) => done));
    },
  };
}

/** Sends one delivery. `webhook test` uses it too. */
export async function postDelivery(
  {
    limits,
    commands,
    resolve,
  }: Pick<DispatcherOptions, 'limits' | 'resolve'> & {
    readonly commands: Pick<WebhookCommands, 'open'>;
  },
  hook: Webhook,
  { id, body, event }: Pick<StoredDelivery, 'id' | 'body'> & { readonly event: string },
  signal?: AbortSignal,
): Promise<PostResult> {
  const sealed = commands.open(hook);
  return postRequest({
    url: hook.url,
    headers: {
      ...USER_AGENT,
      ...sealed.headers,
      'content-type': 'application/json',
      'X-Strapi-Event': event,
      ...signatureHeaders(sealed, { id, body }, Date.now()),
    },
    body,
    allowPrivate: hook.allowPrivate,
    timeoutMs: limits.timeoutMs,
    ...(resolve && { resolve }),
    ...(signal && { signal }),
  });
}

/** Decides the next state of a delivery after an attempt. */
export function decideAttempt(
  { retryMs }: Pick<WebhookLimits, 'retryMs'>,
  { attempts }: Pick<StoredDelivery, 'attempts'>,
  { status, failure: error, askedMs = 0 }: RequestOutcome,
  now: number,
): Attempt {
  if (error === null) return { state: 'delivered', nextAt: now, status, error };
  const wait = retryMs[attempts];
  if (wait === undefined || status === GONE) return { state: 'parked', nextAt: now, status, error };
  // The first retry comes on time: a receiver that restarts is back soon.
  const usual = attempts === 0 ? wait : jittered(wait, Math.random() / 5);
  return { state: 'waiting', nextAt: now + Math.max(usual, askedMs), status, error };
}
