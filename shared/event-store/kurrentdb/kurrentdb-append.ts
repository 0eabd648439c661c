import { createLocks } from '../../locks.ts';
import type { Append } from '../event-codec.ts';
import type { AppendResult, TogetherResult } from '../event-store.ts';
import { togetherResult } from '../together-result.ts';
import type { ExactAppend } from './kurrentdb-batch-append.ts';
import type { Connection } from './kurrentdb-connection.ts';
import { positionOfEvent } from './kurrentdb-event.ts';
import { readStreamPage } from './kurrentdb-pages.ts';
import { retrying } from './kurrentdb-retry.ts';
import {
  createStreamTails,
  EMPTY_TAIL,
  extendTail,
  readStreamTail,
  type StreamTail,
  type StreamTails,
} from './kurrentdb-stream-tails.ts';
import {
  createWriter,
  firstGroup,
  positionAt,
  serverChecksConditions,
  type Write,
  writeInOrder,
} from './kurrentdb-write.ts';

export type Appender = {
  append(append: Append): Promise<AppendResult>;
  appendInOrder(appends: readonly ExactAppend[]): Promise<readonly AppendResult[]>;
  appendTogether(appends: readonly ExactAppend[]): Promise<TogetherResult>;
};

type Context = { readonly connection: Connection; readonly tails: StreamTails; readonly write: Write };

/**
 * Appends as the port promises, on a server that promises less. KurrentDB recognises a repetition only while its cache has the ids, or if
 * the expected revision points at them. It writes the events again if the expected revision matches. So the appender first searches for the
 * ids in what it knows of the stream (read once, then cached). Every write names the revision at which this knowledge ends. If another
 * process has appended events, the write is a conflict and the search is repeated. `any` becomes the revision found. The same search
 * decides attempts whose answer was lost.
 */
export function createAppender(connection: Connection): Appender {
  const tails = createStreamTails();
  const streams = createLocks();
  const write = createWriter(connection);
  // The attempt is repeated as a whole. A search that finds no node must not use up the time limit of the append.
  const retryLimits = { ...connection.retryLimits, giveUpAfterMs: connection.retryLimits.deadlineMs };
  const context = { connection: { ...connection, retryLimits }, tails, write };
  const attempt = async (append: Append): Promise<AppendResult> => {
    try {
      return await appendOnce(context, append);
    } catch (error) {
      // The append may have been written.
      tails.forget(append.stream);
      throw error;
    }
  };
  const append = (given: Append) =>
    streams.run([given.stream], () =>
      retrying(`append to ${given.stream}`, connection.retryLimits, () => attempt(given)),
    );
  return {
    append,
    appendInOrder: (appends) => appendInOrder(connection, append, appends),
    appendTogether: (appends) =>
      streams.run(
        appends.map(({ stream }) => stream),
        () => appendTogether(connection, appends),
      ),
  };
}

/**
 * Writes one call with all appends. A server recognises a call that it has stored, unless its condition does not hold any more: so the last
 * append is searched, because all are stored or none.
 */
async function appendTogether(
  connection: Connection,
  appends: readonly ExactAppend[],
): Promise<TogetherResult> {
  if (!(await serverChecksConditions(connection)))
    throw new Error(
      'the server of the event log cannot append to several streams together: it is older than 26.1',
    );
  const write = () => writeInOrder(connection, appends);
  const results = await retrying('append to several streams', connection.retryLimits, write);
  const result = togetherResult(appends, results);
  const last = appends.at(-1);
  if (result.kind === 'appended' || last === undefined) return result;
  const first = last.expected === 'none' ? 0n : last.expected + 1n;
  const stored = await findStoredAt(connection, last, first);
  return stored?.kind === 'appended' ? { kind: 'appended', position: stored.position } : result;
}

/**
 * Writes groups of appends. A server recognises a group that it has stored, and repeats its answer. A group that is not stored as a whole is
 * appended one by one, which finds out how much of it was stored.
 */
async function appendInOrder(
  connection: Connection,
  append: Appender['append'],
  appends: readonly ExactAppend[],
): Promise<readonly AppendResult[]> {
  const results: AppendResult[] = [];
  while (results.length < appends.length) {
    const group = firstGroup(appends.slice(results.length));
    const write = () => writeInOrder(connection, group);
    // A failure may be that of one append only.
    const written = await retrying('append of a sequence', connection.retryLimits, write).catch(() => []);
    const isStored = written.length > 0 && written.every((result) => result?.kind === 'appended');
    if (isStored) results.push(...(written as AppendResult[]));
    else
      for (const each of group) {
        const result = await append(each);
        results.push(result);
        if (result.kind !== 'appended') return results;
      }
  }
  return results;
}

async function appendOnce(context: Context, append: Append): Promise<AppendResult> {
  const { connection, tails, write } = context;
  const { stream, expected, events } = append;
  let tail = await tailFor(connection, tails, append);
  for (;;) {
    const earlier = await findEarlierAppend(connection, tail, append);
    if (earlier !== undefined) return earlier;
    const result = await write({ ...append, expected: expected === 'any' ? revisionOf(tail) : expected });
    if (result.kind === 'appended') {
      const ids = events.map((event) => event.id);
      tails.set(stream, extendTail(tail, ids, result.revision));
      return result;
    }
    tail = await readTailAfter(connection, stream, result, tails.get(stream));
    tails.set(stream, tail);
    if (expected === 'any' && result.kind === 'conflict') continue;
    return (
      (await findEarlierAppend(connection, tail, append)) ??
      (await findAtExpected(connection, tail, append)) ??
      result
    );
  }
}

/** Reads the tail that must be known before a write: everything up to the revision that the write will name. */
async function tailFor(
  connection: Connection,
  tails: StreamTails,
  { stream, expected }: Append,
): Promise<StreamTail> {
  const known = tails.get(stream);
  // If the server agrees that the stream does not exist, it contains none of the ids.
  if (expected === 'none') return known ?? EMPTY_TAIL;
  if (known !== undefined && (expected === 'any' || expected <= known.revision)) return known;
  const tail = await readStreamTail(connection, stream, known);
  tails.set(stream, tail);
  return tail;
}

/**
 * Reads the tail after an append that was not stored. Reads do not show events that were deleted or truncated on the server, but the next
 * write must name their revision. Without the revision that the server reported, the append would conflict forever.
 */
async function readTailAfter(
  connection: Connection,
  stream: string,
  result: AppendResult,
  known: StreamTail | undefined,
): Promise<StreamTail> {
  if (result.kind !== 'conflict') return readStreamTail(connection, stream, known);
  const { actual } = result;
  const tail = await readStreamTail(connection, stream, actual === undefined ? EMPTY_TAIL : known);
  return actual === undefined || actual <= tail.revision ? tail : { ...tail, revision: actual };
}

/** Returns the result of the append that already stored these events. Throws if only some of them are there, or in another order. */
async function findEarlierAppend(
  connection: Connection,
  tail: StreamTail,
  { stream, events }: Append,
): Promise<AppendResult | undefined> {
  const some = events.findIndex((event) => tail.revisions.has(event.id));
  const id = events[some]?.id;
  const found = id === undefined ? undefined : tail.revisions.get(id);
  if (found === undefined) return undefined;
  const first = found - BigInt(some);
  if (events.every((event, n) => tail.revisions.get(event.id) === first + BigInt(n))) {
    const revision = first + BigInt(events.length) - 1n;
    return { kind: 'appended', revision, position: await positionAt(connection, stream, revision) };
  }
  // The first events may be older than the tail.
  const stored = await findStoredAt(connection, { stream, events }, first);
  if (stored !== undefined) return stored;
  throw new Error(
    `event id ${id} is that of revision ${found} of ${stream}, and this append to ${stream} is not its retry`,
  );
}

/** Returns the result of the append that stored these events after the revision that this one expects, which may be older than the tail. */
async function findAtExpected(
  connection: Connection,
  tail: StreamTail,
  append: Append,
): Promise<AppendResult | undefined> {
  const { expected } = append;
  if (expected === 'any') return undefined;
  const first = expected === 'none' ? 0n : expected + 1n;
  const [oldest] = tail.revisions.values();
  return oldest === undefined || first >= oldest ? undefined : findStoredAt(connection, append, first);
}

async function findStoredAt(
  connection: Connection,
  { stream, events }: Pick<Append, 'stream' | 'events'>,
  first: bigint,
): Promise<AppendResult | undefined> {
  if (first < 0n) return undefined;
  const page = await readStreamPage(connection, stream, { from: first, count: events.length });
  const last = page.at(-1);
  if (last === undefined || !events.every(({ id }, n) => page[n]?.id === id)) return undefined;
  return { kind: 'appended', revision: last.revision, position: positionOfEvent(last) };
}

function revisionOf({ revision }: StreamTail): bigint | 'none' {
  return revision < 0n ? 'none' : revision;
}
