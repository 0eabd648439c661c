import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { rawEvents } from '../../shared/event-store/raw-events.ts';
import { RequestError } from '../../shared/request-error.ts';
import { AS_OF } from '../query/root-parameters.ts';
import { parseAsOf, refusedAsOf } from './as-of.ts';

type MomentLog = Pick<EventStore, 'readAll' | 'lastPosition' | 'chain'>;

/** A state of the log: all events up to a position. `at`: time of the last of them; absent if the log's server cannot look it up. */
export type LogMoment = { readonly position: bigint; readonly at?: Date | undefined };

/**
 * Finds the moment that the texts of `asOf` name. An instant is the last event whose time is not later: it is found by bisection, in some
 * 20 reads for a million events. Rejects with RequestError (400) if there is none.
 */
export async function findMoment(
  log: MomentLog,
  given: readonly string[],
  now: () => number,
): Promise<LogMoment> {
  const asked = parseAsOf(given);
  const found = given.join('&').slice(AS_OF.length + 1);
  const end = await log.lastPosition();
  if (asked.kind === 'position') {
    if (asked.position < 1n || asked.position > end)
      throw refusedAsOf(found, `The log has no position ${asked.position}`, `a position from 1 to ${end}`);
    return { position: asked.position, at: await timeAt(log, asked.position) };
  }
  if (asked.at > now())
    throw refusedAsOf(
      found,
      'asOf is in the future',
      `an instant that has passed, or a position up to ${end}`,
    );
  // A position of KurrentDB is an offset in its files, and between two of them nothing can be read.
  if (log.chain === undefined)
    throw new RequestError('not-supported', 'Instants are not supported on KurrentDB: pass a position', {
      source: 'query',
      param: AS_OF,
      found,
      accepted: `a position from 1 to ${end}`,
    });
  const position = await positionAt(log, asked.at, end);
  if (position === undefined)
    throw refusedAsOf(found, 'The log has no event of that time or before', await firstTime(log));
  return { position, at: await timeAt(log, position) };
}

/** Returns the position of the last event up to an instant. Times of a log need not ascend: the result is one of several then. */
async function positionAt(log: MomentLog, instant: number, end: bigint): Promise<bigint | undefined> {
  let low = 0n;
  let high = end;
  while (low < high) {
    const middle = (low + high) / 2n;
    const next = await firstAfter(log, middle);
    if (next !== undefined && Date.parse(next.metadata.at) <= instant) low = next.position;
    else high = middle;
  }
  return low === 0n ? undefined : low;
}

async function firstAfter(log: MomentLog, position: bigint): Promise<StoredEvent | undefined> {
  for await (const event of rawEvents(log, position, { batchSize: 1 })) return event;
  return undefined;
}

async function firstTime(log: MomentLog): Promise<string> {
  const first = await firstAfter(log, 0n);
  return first === undefined ? 'nothing: the log is empty' : `an instant from ${first.metadata.at} on`;
}

const LOOK_BATCH = 64;

/** Returns the time of the last event up to a position. Events of other namespaces may be at the positions before. */
async function timeAt(log: MomentLog, position: bigint): Promise<Date | undefined> {
  if (log.chain === undefined) return undefined;
  for (let back = 1n; ; back *= 8n) {
    const after = back > position ? 0n : position - back;
    let last: StoredEvent | undefined;
    for await (const event of rawEvents(log, after, { until: position, batchSize: LOOK_BATCH })) last = event;
    if (last !== undefined) return new Date(last.metadata.at);
    if (after === 0n) return undefined;
  }
}
