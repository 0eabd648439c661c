import type { Connection } from './kurrentdb-connection.ts';
import type { Recorded } from './kurrentdb-event.ts';
import { createPageSize, readStreamPage } from './kurrentdb-pages.ts';

/** Known end of a stream. Other processes may have added revisions since. */
export type StreamTail = {
  /** Revision of the last event; -1n if there is none. */
  readonly revision: bigint;
  /** Ids of the newest events, at most LOOK_BACK, with their revisions. */
  readonly revisions: ReadonlyMap<string, bigint>;
};

export type StreamTails = ReturnType<typeof createStreamTails>;

/**
 * Number of a stream's newest events that are searched for an id, before the first append to a stream. A command that a client repeats much
 * later is found in the graph, and an append that names its first revision is found there.
 */
const LOOK_BACK = 512;
/** Maximum ids in memory, at about 100 bytes each. */
const MAX_IDS = 200_000;

export const EMPTY_TAIL: StreamTail = { revision: -1n, revisions: new Map() };

/** Creates a cache with the tails of the most recently written streams, up to 200,000 event ids in all. */
export function createStreamTails() {
  const tails = new Map<string, StreamTail>();
  let ids = 0;
  const forget = (stream: string) => {
    ids -= tails.get(stream)?.revisions.size ?? 0;
    tails.delete(stream);
  };
  const set = (stream: string, tail: StreamTail) => {
    forget(stream);
    tails.set(stream, tail);
    ids += tail.revisions.size;
    for (const oldest of tails.keys()) {
      if (ids <= MAX_IDS || oldest === stream) break;
      forget(oldest);
    }
  };
  return {
    get: (stream: string) => tails.get(stream),
    set,
    forget,
  };
}

/** Returns the tail after an append of these events. `revision`: the revision of the last one. */
export function extendTail(tail: StreamTail, ids: readonly string[], revision: bigint): StreamTail {
  const first = revision - BigInt(ids.length) + 1n;
  const added = ids.map((id, n): [string, bigint] => [id, first + BigInt(n)]);
  const all = tail.revision === first - 1n ? [...tail.revisions, ...added] : added;
  return { revision, revisions: new Map(all.slice(-LOOK_BACK)) };
}

/** Reads the end of the stream, back to the known part or to the limit of the search for ids. */
export async function readStreamTail(
  connection: Connection,
  stream: string,
  known: StreamTail = EMPTY_TAIL,
): Promise<StreamTail> {
  const newest: [string, bigint][] = [];
  const size = createPageSize(LOOK_BACK);
  for (let from: bigint | 'end' = 'end'; newest.length < LOOK_BACK; ) {
    const count = Math.min(size.count(), LOOK_BACK - newest.length);
    const before = { from, backwards: true, count };
    const page: readonly Recorded[] = from === -1n ? [] : await readStreamPage(connection, stream, before);
    const added = page.filter((event) => event.revision > known.revision);
    newest.push(...added.map((event): [string, bigint] => [event.id, event.revision]));
    if (added.length < count) {
      newest.push(...[...known.revisions].reverse());
      break;
    }
    from = (page.at(-1)?.revision ?? 0n) - 1n;
    size.learn(page);
  }
  const revisions = new Map(newest.slice(0, LOOK_BACK).reverse());
  return { revision: newest[0]?.[1] ?? known.revision, revisions };
}
