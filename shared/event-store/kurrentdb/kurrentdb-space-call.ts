import { PassThrough } from 'node:stream';
import type { ReadResp } from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import { laterPosition } from '../later-position.ts';
import type { NodeClient } from './kurrentdb-client.ts';
import type { Connection } from './kurrentdb-connection.ts';
import { positionOfEvent, type Recorded, recordedOf, streamOf } from './kurrentdb-event.ts';
import { DeadlinePassed } from './kurrentdb-failure.ts';
import { createInbox } from './kurrentdb-inbox.ts';
import { reportedNumber, storedNumber } from './kurrentdb-numbers.ts';
import { spaceFilter } from './kurrentdb-pages.ts';
import { openRead, subscriptionRequest } from './kurrentdb-read.ts';

/** Messages that a filtered subscription delivered, in the server's order. */
export type SpaceStep = {
  /** Events of the namespace, without the server's own. */
  readonly events: readonly Recorded[];
  /** Position up to which the log was searched, including the server's own events in the namespace's streams. */
  readonly upTo: bigint;
  /** Size of the events' data. */
  readonly bytes: number;
};

/** A subscription call. It ends when it fails. */
export type SpaceCall = Awaited<ReturnType<typeof openSpaceCall>>;

/** Maximum events that wait here while the handler is busy. Beyond this number the server must wait. */
const BUFFERED_EVENTS = 512;
/**
 * Milliseconds without messages after which a subscription counts as caught up, because a server before 24.2 does not report it. A server
 * that searches sends a report every few milliseconds.
 */
const QUIET_MS = 500;
/** Milliseconds to wait for an event that is in the log and that the call does not deliver. */
const STALLED_AFTER_MS = 2_000;

export type SpaceCallOptions = {
  readonly node: NodeClient;
  readonly after: bigint;
  /** Position at or before `after` where a record begins. */
  readonly from: bigint;
  readonly requiresLeader: boolean;
  readonly signal: AbortSignal;
  /** Delivers only events of this stream. Default: all streams of the namespace. */
  readonly stream?: string;
};

/**
 * Subscribes to the namespace after a position. Events and checkpoints arrive in one sequence, so a checkpoint covers everything before it,
 * including events that still wait here.
 */
export async function openSpaceCall(
  connection: Connection,
  { node, after, from, requiresLeader, signal, stream }: SpaceCallOptions,
) {
  const { deadlineMs } = connection.retryLimits;
  const message = subscriptionRequest(from <= 0n ? 'start' : from, spaceFilter(connection, stream));
  const call = await openRead(node, message, { requiresLeader, connectMs: deadlineMs, ends: false });
  const buffer = call.stream.pipe(new PassThrough({ objectMode: true, highWaterMark: BUFFERED_EVENTS }));
  const inbox = createInbox<ReadResp>(buffer, signal);
  call.stream.on('error', inbox.fail);
  let at = after;
  let isCaughtUp = false;
  let heardAt = Number.POSITIVE_INFINITY;
  let lacksSince = Number.POSITIVE_INFINITY;
  const confirmation = setTimeout(() => inbox.fail(new DeadlinePassed(deadlineMs)), deadlineMs);

  const hear = (messages: readonly ReadResp[]) => {
    if (messages.length === 0) return;
    clearTimeout(confirmation);
    heardAt = performance.now();
  };
  /** Returns the event of a message, if it is wanted and new. */
  const eventOf = (message: ReadResp): Recorded | undefined => {
    const record = message.getEvent()?.getEvent();
    if (record === undefined) return undefined;
    if (stream !== undefined && streamOf(record) !== stream) {
      at = laterPosition(at, storedNumber(record.getCommitPosition(), 'position', streamOf(record)));
      return undefined;
    }
    const event = recordedOf(record);
    if (positionOfEvent(event) <= at) return undefined;
    at = positionOfEvent(event);
    // The server itself writes events to streams of the namespace, such as the tombstone of a deleted one.
    return event.type.startsWith('$') ? undefined : event;
  };
  const take = (messages: readonly ReadResp[]): SpaceStep => {
    const events: Recorded[] = [];
    const before = at;
    let bytes = 0;
    for (const message of messages) {
      const event = eventOf(message);
      if (event !== undefined) {
        events.push(event);
        bytes += event.data.length;
      }
      at = laterPosition(at, searchedOf(message));
      isCaughtUp = message.hasCaughtUp() || (isCaughtUp && !message.hasFellBehind());
    }
    if (at > before) lacksSince = Number.POSITIVE_INFINITY;
    return { events, upTo: at, bytes };
  };
  return {
    /**
     * Returns up to `limit` messages; waits for the first. Empty after `wake`. Undefined when the signal is aborted. Rejects when the call
     * failed.
     */
    async next(limit: number): Promise<SpaceStep | undefined> {
      const messages = await inbox.next(limit);
      if (messages === undefined) return undefined;
      hear(messages);
      return take(messages);
    },
    /** Returns true if no message waits and the server has no more for now. */
    isQuiet: () => !inbox.hasMore() && (isCaughtUp || performance.now() - heardAt > QUIET_MS),
    /** Returns the position up to which `next` has returned everything. */
    taken: () => at,
    wake: inbox.wake,
    /** Records whether the log has an event that the call has not delivered. If that lasts, the call ends: its node does not answer. */
    lacksEvent(isLacking: boolean): void {
      lacksSince = isLacking ? Math.min(lacksSince, performance.now()) : Number.POSITIVE_INFINITY;
      if (performance.now() - lacksSince > STALLED_AFTER_MS) inbox.fail(new DeadlinePassed(deadlineMs));
    },
    /** Ends the call with an error. */
    fail: inbox.fail,
    /** Returns the error of a failed `next`, for the caller that subscribes again. */
    failed: call.failed,
    close(): void {
      clearTimeout(confirmation);
      inbox.close();
      call.cancel();
      buffer.destroy();
    },
  };
}

/** Bytes of a step. */
const STEP_BYTES = 8_000_000;
/** Milliseconds to wait for more events. Events that have arrived need not wait for the server's search. */
const WAIT_FOR_MORE_MS = 10;

/**
 * Collects messages until a step is full, `isEnough`, or no event follows in time. Returns undefined when the signal of the call is aborted.
 */
export async function gather(
  call: Pick<SpaceCall, 'next' | 'wake'>,
  limit: number,
  isEnough: (step: SpaceStep) => boolean,
): Promise<SpaceStep | undefined> {
  const events: Recorded[] = [];
  let bytes = 0;
  let upTo = 0n;
  while (events.length < limit && bytes < STEP_BYTES) {
    const timer = events.length > 0 ? setTimeout(call.wake, WAIT_FOR_MORE_MS) : undefined;
    const step = await call.next(limit - events.length).finally(() => clearTimeout(timer));
    if (step === undefined) return undefined;
    events.push(...step.events);
    bytes += step.bytes;
    upTo = step.upTo;
    if (isEnough(step) || (events.length > 0 && step.events.length === 0)) break;
  }
  return { events, upTo, bytes };
}

/**
 * Returns the position up to which the server has searched; 0n if the message has none, like CaughtUp before 25.1, and the first checkpoint
 * of a short log. From 25.0.0 until 25.0.1 a checkpoint may be the position of the next event, so it proves only what lies before it.
 */
function searchedOf(message: ReadResp): bigint {
  const checkpoint = reportedNumber(message.getCheckpoint()?.getCommitPosition());
  if (checkpoint !== undefined) return checkpoint - 1n;
  return reportedNumber(message.getCaughtUp()?.getPosition()?.getCommitPosition()) ?? 0n;
}
