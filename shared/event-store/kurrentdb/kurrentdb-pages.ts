import type { Channel } from '@grpc/grpc-js';
import { StreamDeletedError, StreamNotFoundError } from '@kurrent/kurrentdb-client';
import { StreamDeleted } from '../event-store.ts';
import type { Connection } from './kurrentdb-connection.ts';
import { positionOfEvent, type Recorded } from './kurrentdb-event.ts';
import { isInvalidPosition } from './kurrentdb-failure.ts';
import {
  allRequest,
  HEAD_REQUEST,
  type PageRequest,
  type PrefixFilter,
  readEvents,
  streamRequest,
} from './kurrentdb-read.ts';
import { retrying } from './kurrentdb-retry.ts';

/** Reads up to `count` events of a stream; fewer only at its end, none if it does not exist. Rejects with StreamDeleted. */
export function readStreamPage(
  connection: Connection,
  stream: string,
  page: PageRequest,
): Promise<readonly Recorded[]> {
  return retrying(`read of ${stream}`, connection.retryLimits, async () => {
    try {
      return await readEvents(
        connection.reader,
        streamRequest(stream, page),
        connection.retryLimits.deadlineMs,
      );
    } catch (error) {
      if (error instanceof StreamNotFoundError) return [];
      if (error instanceof StreamDeletedError) throw new StreamDeleted(stream, error);
      throw error;
    }
  });
}

/**
 * Records that the server searches for one page of a filtered answer. With this number a server passes 1,000,000 records per second. With
 * its default of 32 it passes only 150,000.
 */
const SEARCH_WINDOW = 1_000;
/** Windows between two reports of a subscription's search position. It also reports whenever it has caught up. */
const CHECKPOINT_EVERY = 10;

/** Returns the filter for the streams of a namespace, or for one of them. */
export function spaceFilter({ prefix }: Connection, stream?: string): PrefixFilter {
  return {
    prefix: stream ?? prefix,
    window: SEARCH_WINDOW,
    checkpointEvery: CHECKPOINT_EVERY,
  };
}

/** Reads the position of the newest record of the whole log, of any stream; 0n if there is none. The server finds it without a search. */
export function readEndOfLog(connection: Connection): Promise<bigint> {
  return retrying('read of the log', connection.retryLimits, () => readEndOnce(connection));
}

/** Makes one attempt, on a channel. Default: the current one. Rejects with LogRestored if this process has read beyond the end. */
export async function readEndOnce(
  { reader, retryLimits, history }: Connection,
  on?: Channel,
): Promise<bigint> {
  const [head] = await readEvents(reader, HEAD_REQUEST, retryLimits.deadlineMs, on);
  const end = head === undefined ? 0n : positionOfEvent(head);
  await history.ends(end);
  return end;
}

/** Reads the record at a position, of any stream; undefined if none begins there. It makes one attempt. */
export async function readRecordAt(
  { reader, retryLimits }: Connection,
  position: bigint,
): Promise<Recorded | undefined> {
  try {
    const page = allRequest({ from: position, count: 1 });
    const [record] = await readEvents(reader, page, retryLimits.deadlineMs);
    return record !== undefined && positionOfEvent(record) === position ? record : undefined;
  } catch (error) {
    if (isInvalidPosition(error)) return undefined;
    throw error;
  }
}

const EVENTS_BACK = 256;

/**
 * Returns the position of the namespace's last event at or before a position; 0n if there is none. A server reads only from a position
 * where a record begins, and a caller may name any.
 */
export async function lastEventUpTo(connection: Connection, position: bigint): Promise<bigint> {
  const { reader, retryLimits } = connection;
  for (let from: bigint | 'end' = 'end'; ; ) {
    const page = allRequest({ from, backwards: true, count: EVENTS_BACK }, spaceFilter(connection));
    const positions = (await readEvents(reader, page, retryLimits.deadlineMs)).map(positionOfEvent);
    const found = positions.find((each) => each <= position);
    const oldest = positions.at(-1);
    if (found !== undefined || oldest === undefined || oldest === from) return found ?? 0n;
    from = oldest;
  }
}

const FIRST_PAGE = 64;
const PAGE_BYTES = 8_000_000;

/** Creates the size of pages. It grows up to `most` events while the data of a page stays below about 8 MB. */
export function createPageSize(most: number) {
  let count = Math.min(FIRST_PAGE, most);
  return {
    /** Returns the number of events to request next. */
    count: () => count,
    /** Adapts to the content of the last page. */
    learn(page: readonly Recorded[]): void {
      const bytes = page.reduce((sum, event) => sum + event.data.length, 0);
      const average = Math.max(1, bytes / Math.max(1, page.length));
      count = Math.max(1, Math.min(most, count * 2, Math.floor(PAGE_BYTES / average)));
    },
  };
}
