import { setTimeout as delay } from 'node:timers/promises';
import { type EventHandler, LogRestored, type StoredEvent, type Subscription } from '../event-store.ts';
import { laterPosition } from '../later-position.ts';
import type { Connection } from './kurrentdb-connection.ts';
import { beginsAtRecord, type Cursor, moveCursor, startOfCall } from './kurrentdb-cursor.ts';
import type { Recorded } from './kurrentdb-event.ts';
import type { HeadSubscriber, HeadWatch, Stretch } from './kurrentdb-head.ts';
import type { History } from './kurrentdb-history.ts';
import { SubscriptionEnded } from './kurrentdb-inbox.ts';
import { explained, isPassing, reportRetry, waitBefore } from './kurrentdb-retry.ts';
import { gather, openSpaceCall, type SpaceCall, type SpaceStep } from './kurrentdb-space-call.ts';

export type SubscriptionRequest = {
  readonly after: bigint;
  readonly batchSize: number;
  /** Stream to deliver. Default: all streams of the namespace. */
  readonly stream: string | undefined;
  readonly decode: (event: Recorded) => StoredEvent;
  readonly handle: EventHandler;
};

/**
 * Subscribes to the namespace's events with a catch-up subscription to `$all`, which the server filters by stream prefix. A call can end
 * because of a lost connection, another leader, or a node that stopped answering. A server also drops a slow consumer. The subscription
 * then begins again after the last handled event or checkpoint. It delivers each event once. It ends when the handler throws, the log has
 * another history, or the server refuses it before it has begun. A later refusal, such as that of a changed password, may be put right.
 */
export function subscribeToNamespace(
  connection: Connection,
  watch: HeadWatch,
  request: SubscriptionRequest,
): Subscription {
  const stop = new AbortController();
  const done = run({ connection, watch, request, signal: stop.signal });
  return {
    done,
    async close() {
      stop.abort();
      await done.catch(() => undefined);
    },
  };
}

type Run = {
  readonly connection: Connection;
  readonly watch: HeadWatch;
  readonly request: SubscriptionRequest;
  readonly signal: AbortSignal;
};

async function run(context: Run): Promise<void> {
  const cursor: Cursor = { at: context.request.after };
  const begun = { is: false };
  for (let attempt = 1; !context.signal.aborted; attempt += 1) {
    const started = cursor.at;
    try {
      await subscribeOnce(context, cursor, begun);
    } catch (error) {
      if (!(error instanceof CallEnded)) throw error;
      if (beginsAtRecord(cursor, error.reason)) continue;
      const isFinal = !error.passes && (!begun.is || error.reason instanceof LogRestored);
      if (isFinal) throw await explained(context.connection.retryLimits, OPERATION, error.reason);
      if (cursor.at !== started) attempt = 1;
      await pause(context, error, attempt);
    }
  }
}

/** Error for a call that ended by itself. `passes`: a new subscription may succeed; otherwise the server refuses permanently. */
class CallEnded extends Error {
  readonly reason: Error;
  readonly passes: boolean;
  constructor(reason: Error) {
    super(reason.message);
    this.reason = reason;
    this.passes = isPassing(reason) || reason instanceof SubscriptionEnded;
  }
}

const OPERATION = 'subscription';

async function orEnded<T>(promise: Promise<T>, call?: SpaceCall): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw new CallEnded(call === undefined ? (error as Error) : call.failed(error));
  }
}

/** Runs one call until it ends. `cursor` is the position of the last handled event. */
async function subscribeOnce(
  { connection, watch, request, signal }: Run,
  cursor: Cursor,
  begun: { is: boolean },
): Promise<void> {
  const options = {
    node: connection.writer,
    after: cursor.at,
    from: await orEnded(startOfCall(connection, cursor)),
    requiresLeader: false,
    signal,
    ...(request.stream !== undefined && { stream: request.stream }),
  };
  const call = await orEnded(openSpaceCall(connection, options));
  const member = createSubscriber(connection.history, call, { cursor, stream: request.stream });
  watch.add(member.subscriber);
  let isProven = false;
  try {
    for (;;) {
      // Each step costs its handler a transaction.
      const isWhole = connection.history.wholeAppends();
      const step = await orEnded(gather(call, request.batchSize, isWhole), call);
      if (step === undefined) return;
      // A server that was restored while the call was opened ends it.
      if (!isProven) await orEnded(connection.history.prove());
      isProven = true;
      begun.is = true;
      if (request.stream === undefined) watch.passed(cursor.at, step);
      await member.handle(step, request);
      if (cursor.at < watch.wanted() && call.isQuiet()) watch.look();
    }
  } finally {
    watch.forget(member.subscriber);
    call.close();
  }
}

function createSubscriber(
  history: History,
  call: SpaceCall,
  { cursor, stream }: { readonly cursor: Cursor; readonly stream: string | undefined },
) {
  let proven = 0n;
  const subscriber: HeadSubscriber = {
    stream,
    at: () => cursor.at,
    known: () => laterPosition(cursor.at, proven),
    // Records that were taken or searched, and are not handled yet, need no second search.
    isQuiet: () => laterPosition(call.taken(), proven) <= cursor.at && call.isQuiet(),
    take(stretch: Stretch) {
      call.lacksEvent(stretch.kind === 'found');
      if (stretch.kind === 'found') return;
      history.reached(stretch.upTo);
      proven = laterPosition(proven, stretch.upTo);
      call.wake();
    },
    fail: call.fail,
  };
  const handle = async (
    { events, upTo: searched }: SpaceStep,
    request: SubscriptionRequest,
  ): Promise<void> => {
    const upTo = laterPosition(searched, proven);
    if (upTo <= cursor.at) return;
    history.seen(events);
    if (request.stream === undefined) history.covered(upTo);
    await request.handle(events.map(request.decode), upTo);
    moveCursor(cursor, upTo);
  };
  return { subscriber, handle };
}

/** Milliseconds between two attempts after a refusal. */
const REFUSED_PAUSE_MS = 3_000;

async function pause(
  { connection, signal }: Run,
  { reason: error, passes }: CallEnded,
  attempt: number,
): Promise<void> {
  const retryInMs = passes ? waitBefore(attempt) : REFUSED_PAUSE_MS;
  // Never rejects: `reportRetry` ignores failures of a report.
  void reportRetry(connection.retryLimits, { operation: OPERATION, error, attempt, retryInMs });
  await delay(retryInMs, undefined, { signal }).catch(() => undefined);
}
