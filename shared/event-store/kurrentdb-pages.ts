import {
  BACKWARDS,
  END,
  FORWARDS,
  START,
  StreamNotFoundError,
  streamNameFilter,
} from '@kurrent/kurrentdb-client';
import type { Connection } from './kurrentdb-connection.ts';
import type { Recorded } from './kurrentdb-event.ts';
import { retrying } from './kurrentdb-retry.ts';

/**
 * Reads in pages that are always read to their end: the client cannot give up a read, and one that is left half-way keeps its
 * share of the connection's flow control until the garbage collector finds it.
 */

/** Up to `count` events of a stream from this revision on; fewer only at its end, none when it does not exist. */
export const readStreamPage = (
  connection: Connection,
  stream: string,
  from: bigint,
  count: number,
): Promise<readonly Recorded[]> =>
  readStreamEvents(connection, stream, { fromRevision: from, direction: FORWARDS, maxCount: count });

/** Up to `count` events of a stream before this revision (its end if undefined), newest first. */
export const readStreamPageBefore = async (
  connection: Connection,
  stream: string,
  before: bigint | undefined,
  count: number,
): Promise<readonly Recorded[]> => {
  if (before === 0n) return [];
  const fromRevision = before === undefined ? END : before - 1n;
  return readStreamEvents(connection, stream, { fromRevision, direction: BACKWARDS, maxCount: count });
};

type StreamRead = Parameters<Connection['client']['readStream']>[1];
type AllRead = Parameters<Connection['client']['readAll']>[0];

const readStreamEvents = (connection: Connection, stream: string, options: StreamRead) =>
  retrying(`read of ${stream}`, connection.patience, async () => {
    try {
      const read = { ...options, ...credentialsOf(connection), requiresLeader: true };
      return await collect(connection.client.readStream(stream, read));
    } catch (error) {
      if (error instanceof StreamNotFoundError) return [];
      throw error;
    }
  });

/**
 * Up to `count` events of the space from this position on, the server's own events in its streams included; fewer only at the
 * log's end. The position is 0n or that of an event: the server refuses others.
 */
export const readSpacePage = (
  connection: Connection,
  from: bigint,
  count: number,
): Promise<readonly Recorded[]> => {
  const fromPosition = from <= 0n ? START : { commit: from, prepare: from };
  return readSpaceEvents(connection, { fromPosition, direction: FORWARDS, maxCount: count });
};

/** The newest events of the space, newest first, as its leader knows them. */
export const readSpaceEnd = (connection: Connection, count: number): Promise<readonly Recorded[]> =>
  readSpaceEvents(connection, {
    fromPosition: END,
    direction: BACKWARDS,
    maxCount: count,
    requiresLeader: true,
  });

const readSpaceEvents = (connection: Connection, options: AllRead) => {
  const filter = streamNameFilter({ prefixes: [connection.prefix] });
  return retrying('read of the log', connection.patience, () =>
    collect(connection.client.readAll({ ...options, ...credentialsOf(connection), filter })),
  );
};

const credentialsOf = ({ credentials }: Connection) => (credentials === undefined ? {} : { credentials });

const collect = async (
  events: AsyncIterable<{ readonly event?: Recorded }>,
): Promise<readonly Recorded[]> => {
  const page: Recorded[] = [];
  for await (const { event } of events) if (event !== undefined) page.push(event);
  return page;
};

export type PageSize = {
  /** How many events to ask for next. */
  count(): number;
  /** Adapts to what the last page held. */
  learn(page: readonly Recorded[]): void;
};

const FIRST_PAGE = 64;
const PAGE_CHARACTERS = 8_000_000;
const SAMPLES = 8;

/** Pages that grow to `most` events while they stay below 8 MB or so, estimated from a few of a page's events. */
export const createPageSize = (most: number): PageSize => {
  let count = Math.min(FIRST_PAGE, most);
  return {
    count: () => count,
    learn(page) {
      const step = Math.max(1, Math.floor(page.length / SAMPLES));
      const sampled = page.filter((_, n) => n % step === 0);
      const characters = sampled.reduce((sum, event) => sum + JSON.stringify(event.data).length, 0);
      const average = Math.max(1, characters / Math.max(1, sampled.length));
      count = Math.max(1, Math.min(most, count * 2, Math.floor(PAGE_CHARACTERS / average)));
    },
  };
};
