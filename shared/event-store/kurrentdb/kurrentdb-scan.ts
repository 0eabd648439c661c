import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from './kurrentdb-connection.ts';
import { beginsAtRecord, type Cursor, moveCursor, startOfCall } from './kurrentdb-cursor.ts';
import { searchAfter } from './kurrentdb-head.ts';
import { SubscriptionEnded } from './kurrentdb-inbox.ts';
import { explained, isPassing, named, reportRetry, waitBefore } from './kurrentdb-retry.ts';
import { gather, openSpaceCall, type SpaceStep } from './kurrentdb-space-call.ts';

const OPERATION = 'read of the log';
const LOOK_EVERY_MS = 250;

/**
 * Reads the namespace's events from a position to the log's end, in batches with the position that was searched. It uses a subscription,
 * which skips records of others ten times as fast as a filtered read. A subscription also reports its progress, so an interrupted read
 * continues from there.
 */
export async function* scanSpace(
  connection: Connection,
  after: bigint,
  batchSize: number,
): AsyncGenerator<Pick<SpaceStep, 'events' | 'upTo'>> {
  const { retryLimits } = connection;
  const cursor: Cursor = { at: after };
  let attempt = 0;
  let giveUpAt = performance.now() + retryLimits.giveUpAfterMs;
  for (;;) {
    const started = cursor.at;
    try {
      yield* scanOnce(connection, cursor, batchSize);
      return;
    } catch (error) {
      if (cursor.at !== started) {
        attempt = 0;
        giveUpAt = performance.now() + retryLimits.giveUpAfterMs;
      }
      if (beginsAtRecord(cursor, error)) continue;
      attempt += 1;
      const retryInMs = waitBefore(attempt);
      const passes = isPassing(error) || error instanceof SubscriptionEnded;
      if (!passes || performance.now() + retryInMs > giveUpAt) {
        throw await explained(retryLimits, OPERATION, named(OPERATION, error, attempt));
      }
      // Never rejects: `reportRetry` ignores failures of a report.
      void reportRetry(retryLimits, { operation: OPERATION, error: error as Error, attempt, retryInMs });
      await delay(retryInMs);
    }
  }
}

async function* scanOnce(
  connection: Connection,
  cursor: Cursor,
  batchSize: number,
): AsyncGenerator<Pick<SpaceStep, 'events' | 'upTo'>> {
  const stop = new AbortController();
  const options = {
    node: connection.reader,
    after: cursor.at,
    from: await startOfCall(connection, cursor),
    requiresLeader: true,
    signal: stop.signal,
  };
  const call = await openSpaceCall(connection, options);
  // Servers before 24.2 do not report that they have no more events.
  const timer = setInterval(call.wake, LOOK_EVERY_MS);
  try {
    for (let isFirst = true; ; isFirst = false) {
      const { events, upTo } = (await gather(call, batchSize, call.isQuiet)) as SpaceStep;
      if (isFirst) await connection.history.prove();
      connection.history.seen(events);
      if (upTo > cursor.at) {
        yield { events, upTo };
        moveCursor(cursor, upTo);
      }
      if (!call.isQuiet()) continue;
      const stretch = await searchAfter(connection, cursor.at);
      call.lacksEvent(stretch.kind === 'found');
      if (stretch.kind === 'found') continue;
      yield { events: [], upTo: stretch.upTo };
      return;
    }
  } catch (error) {
    throw call.failed(error);
  } finally {
    clearInterval(timer);
    call.close();
  }
}
