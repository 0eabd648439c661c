import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  DocumentIndex,
  IndexableDocument,
  WriteOutcome,
} from '../../shared/read-index/document-index.ts';
import type { Settlement, StaleDocuments } from '../graph/stale/stale-documents.ts';
import { type Lane, type StaleRow, staleNumber, type Target, type Turn } from '../graph/stale/stale-rows.ts';

/** Stale documents of both lanes, and the documents that are being written. */
export type Work = {
  readonly stale: StaleDocuments;
  readonly index: DocumentIndex;
  /** Documents in flight, by `staleNumber`, with the position that each will show. */
  readonly taken: Map<number, number>;
  /** Point in the backlog up to which all documents are in flight or written, at this position of the graph. */
  turn: { readonly position: bigint; readonly from: Turn } | undefined;
  /** Returns the position of the graph. */
  readonly position: () => bigint;
  /** Returns milliseconds of a clock that also runs while the process is suspended. */
  readonly now: () => number;
  /** Aborted when another process becomes the writer. Requests in flight are then abandoned, and no more are sent. */
  readonly stopSignal: AbortSignal;
};

/** Documents of one request. */
export type Batch = {
  readonly documents: readonly StaleRow[];
  readonly sent: readonly IndexableDocument[];
  readonly bytes: number;
  /** Position of the graph when the documents were chosen. Their marks may be removed up to there. */
  readonly position: bigint;
  /** Time in milliseconds after which the batch is not sent any more. */
  readonly deadline: number;
};

/** Short compared with one hour, for which an index remembers deletes. */
const SEND_WITHIN = 60_000;
/** Milliseconds for making documents before other work runs. */
const TURN = 8;
/** Assumed bytes of a document before any was made. */
const FIRST_GUESS_BYTES = 2_000;
/** Weight of one batch in the estimate for the next. */
const LEARNED = 0.3;

let bytesOfDocument = FIRST_GUESS_BYTES;

/**
 * Returns the number of documents to choose. It is slightly above what will probably fit. Documents that do not fit are chosen again later.
 */
function countFor(bytes: number): number {
  return Math.ceil((bytes / bytesOfDocument) * 1.25) + 1;
}

/**
 * Returns the next documents of a lane in their current state, up to a number of bytes; undefined if there are none. A document that could
 * not be made has a settlement instead. `only`: the target of all documents.
 */
export async function nextBatch(
  work: Work,
  lane: Lane,
  maxBytes: number,
  only?: Target,
): Promise<{ readonly batch: Batch; readonly unmakable: readonly Settlement[] } | undefined> {
  const position = work.position();
  const from = work.turn?.position === position ? work.turn.from : undefined;
  const chosen = work.stale.next(lane, countFor(maxBytes), work.taken, { from, only });
  const last = chosen.at(-1);
  if (last === undefined) return undefined;
  if (lane === 'backlog') work.turn = { position, from: last };
  for (const document of chosen) work.taken.set(staleNumber(document), Number(position));
  const { batch, unmakable, rest } = await makeBatch(work, chosen, maxBytes, position);
  for (const each of rest) work.taken.delete(staleNumber(each));
  if (lane === 'backlog' && rest[0] !== undefined) moveBack(work, rest[0]);
  if (batch.sent.length > 0) bytesOfDocument += (batch.bytes / batch.sent.length - bytesOfDocument) * LEARNED;
  return { batch, unmakable };
}

type MadeBatch = {
  readonly batch: Batch;
  readonly unmakable: readonly Settlement[];
  /** Documents that did not fit. */
  readonly rest: readonly StaleRow[];
};

/** Makes the chosen documents in their current state, up to a number of bytes. `position`: of the graph when they were chosen. */
export async function makeBatch(
  work: Work,
  chosen: readonly StaleRow[],
  maxBytes: number,
  position: bigint,
): Promise<MadeBatch> {
  const deadline = work.now() + SEND_WITHIN;
  const made: Made = { documents: [], sent: [], bytes: 0, unmakable: [] };
  let at = 0;
  while (at < chosen.length && made.bytes < maxBytes) {
    if (at > 0) await nextTurn();
    at += work.stale.reading(() => makeInTurn(work, chosen.slice(at), maxBytes, made));
  }
  const { documents, sent, bytes, unmakable } = made;
  return { batch: { documents, sent, bytes, position, deadline }, unmakable, rest: chosen.slice(at) };
}

/** Moves the start of the next search back to a document that was chosen and not sent. */
function moveBack(work: Work, { since, key }: Turn): void {
  const { turn } = work;
  if (turn === undefined) return;
  const { from } = turn;
  if (since < from.since || (since === from.since && key < from.key))
    work.turn = { ...turn, from: { since, key } };
}

type Made = {
  readonly documents: StaleRow[];
  readonly sent: IndexableDocument[];
  bytes: number;
  readonly unmakable: Settlement[];
};

/** Makes documents until the slice ends or there are enough bytes. Returns how many it processed. */
function makeInTurn(work: Work, chosen: readonly StaleRow[], maxBytes: number, made: Made): number {
  const turnEnds = performance.now() + TURN;
  for (const [at, document] of chosen.entries()) {
    try {
      const { row, neighbours } = work.stale.read(document);
      const each = work.index.present(row, neighbours);
      made.documents.push(document);
      made.sent.push(each);
      made.bytes += each.bytes.length;
    } catch (error) {
      const refused = `cannot be made: ${(error as Error).message}`;
      made.unmakable.push({ document, refused });
    }
    if (made.bytes >= maxBytes || performance.now() >= turnEnds) return at + 1;
  }
  return chosen.length;
}

/** Returns the position of the oldest change that some document lacks. */
export function oldestChange(documents: readonly StaleRow[]): bigint {
  return BigInt(Math.min(...documents.map(({ since }) => since)));
}

/** Outcome of a batch. */
export type SentDocuments = {
  readonly settled: readonly Settlement[];
  /** Reason why others of its documents must be written again. */
  readonly again: string | undefined;
  /** Documents that the index did not write, although they were sent. */
  readonly failed: readonly StaleRow[];
};

/** Writes one batch. */
export async function sendBatch(work: Work, batch: Batch, refresh: boolean): Promise<SentDocuments> {
  if (work.stopSignal.aborted) return { settled: [], again: 'another process writes', failed: [] };
  if (work.now() > batch.deadline) return { settled: [], again: 'the process was stopped', failed: [] };
  let outcomes: readonly WriteOutcome[];
  try {
    outcomes = await work.index.write(batch.sent, { refresh, signal: work.stopSignal });
  } catch (error) {
    return { settled: [], again: (error as Error).message, failed: batch.documents };
  }
  const settled: Settlement[] = [];
  const failed: StaleRow[] = [];
  let again: string | undefined;
  for (const [at, outcome] of outcomes.entries()) {
    const document = batch.documents[at] as StaleRow;
    if (outcome.kind === 'again') {
      again = outcome.reason;
      failed.push(document);
    } else {
      const refused = outcome.kind === 'refused' ? outcome.reason : undefined;
      settled.push({ document, refused });
    }
  }
  return { settled, again, failed };
}

/** Releases the documents. Those without a settlement will be chosen again. */
export function release(work: Work, documents: readonly StaleRow[], position: bigint): void {
  for (const document of documents) {
    const number = staleNumber(document);
    if (work.taken.get(number) === Number(position)) work.taken.delete(number);
  }
}
