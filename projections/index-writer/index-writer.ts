import { type Condition, createCondition } from '../../shared/condition.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import type { ContentGraph } from '../graph/content-graph.ts';
import { type Settlement, staleDocumentsOf } from '../graph/stale/stale-documents.ts';
import type { Lane, StaleRow } from '../graph/stale/stale-rows.ts';
import { GraphFailure, onGraph } from './graph-failure.ts';
import { type Batch, nextBatch, release, sendBatch, type Work } from './lane.ts';
import {
  adjustedPace,
  bytesAt,
  FULL_WRITE_PACE,
  type PaceKind,
  slowerPace,
  type WritePace,
  waitOf,
} from './pace.ts';
import { createRefreshes, type Refreshes } from './refreshes.ts';
import { isDelayed, oldestUnseen, shownPosition } from './unseen-changes.ts';
import { type WriterReport, type WriterStatus, writerStatus } from './writer-report.ts';

export type IndexWriterOptions = {
  readonly graph: ContentGraph;
  readonly index: DocumentIndex;
  /** Called when the index stops accepting documents, and when it accepts them again. */
  readonly report: (report: WriterReport) => void;
  /** Called when the result of `shown` may have changed. */
  readonly progressed?: () => void;
  /** Returns whether the backlog should throttle for requests other than edits. */
  readonly isThrottled?: () => boolean;
  /** Awaited before documents with the changes up to a position are sent. If it rejects, they are sent later. */
  readonly beforeWrite?: (position: bigint) => Promise<void>;
};

/**
 * Keeps the documents of an index up to date with the graph, in the one process that writes them. A process may start and stop it
 * repeatedly over one graph, as leaders change. It writes again the documents that an earlier run had in flight, which changes nothing.
 */
export type IndexWriter = {
  /** Notifies the writer that the graph has changed. */
  wake(): void;
  /**
   * Resolves when searches see the changes at a position: the rows themselves, and the documents that embed them if they are few. It waits
   * as long as the index accepts no documents, but not for earlier changes of other rows.
   */
  visible(position: bigint): Promise<void>;
  /** Resolves when searches see all changes up to a position. */
  allVisible(position: bigint): Promise<void>;
  /** Returns the position up to which searches see every change, in the rows' own documents and in all that embed them. */
  shown(): bigint;
  /** Resolves when no document is out of date. */
  caughtUp(): Promise<void>;
  status(): WriterStatus;
  /** Rejects when the graph cannot be read. Resolves on close. */
  readonly done: Promise<void>;
  /** Stops at once: another process writes from now on. Waiting callers get no result. */
  stop(): void;
  /** Waits for requests in flight. The remaining documents are written after the next start. */
  close(): Promise<void>;
};

/**
 * Documents that a write waits for are sent in one request at a time. Each request takes everything that arrived in the meantime. The
 * backlog has one worker more than requests, which makes the documents of the next request. While writes wait, the backlog has one small
 * request, because writes would otherwise queue behind it.
 */
const WORKERS: Readonly<Record<Lane, number>> = { prompt: 1, backlog: 3 };
const REQUESTS = { alone: 2, shared: 1 };
/** Milliseconds after the last write for which the backlog is throttled. */
const THROTTLED_MS = 1_000;
/** Milliseconds after which a throttled worker checks again. */
const LOOK_EVERY = 200;

type State = Work & {
  readonly options: IndexWriterOptions;
  /** Condition that is checked after every change of this state. */
  readonly changed: Condition;
  /** Number of wake-ups so far. */
  wakes: number;
  /** Requests of the backlog in flight. */
  requests: number;
  stopping: boolean;
  stuck: boolean;
  written: number;
  /** Time when a write last waited. */
  lastPrompt: number;
  readonly refreshes: Refreshes;
  readonly stopped: AbortController;
};

/** Starts the workers. They first make documents of earlier runs visible that were never refreshed. */
export function startIndexWriter(options: IndexWriterOptions): IndexWriter {
  const { graph, index } = options;
  const stale = staleDocumentsOf(graph);
  const stopped = new AbortController();
  const state: State = {
    options,
    stale,
    index,
    taken: new Map(),
    turn: undefined,
    position: graph.position,
    now: Date.now,
    changed: createCondition(),
    wakes: 0,
    requests: 0,
    stopping: false,
    stuck: false,
    written: 0,
    lastPrompt: Number.NEGATIVE_INFINITY,
    refreshes: createRefreshes(index),
    stopped,
    stopSignal: stopped.signal,
  };
  const workers = (['prompt', 'backlog'] as const).flatMap((lane) =>
    Array.from({ length: WORKERS[lane] }, (_, at) => runWorker(state, lane, at)),
  );
  const done = Promise.all(workers).then(() => {});
  done.catch(() => end(state));
  const wait = async (isReached: () => boolean): Promise<void> => {
    await state.changed.until(isReached);
  };
  return {
    wake() {
      state.wakes++;
      noteChange(state);
    },
    visible: (position) => wait(() => !stale.isAwaited(position)),
    allVisible: (position) => wait(() => (stale.oldest('prompt') ?? position + 1n) > position),
    shown: () => shownPosition(state, state.position()),
    caughtUp: () => wait(() => oldestUnseen(state) === undefined),
    status: () => writerStatus(stale, state.written),
    done,
    stop() {
      stopped.abort();
      end(state);
    },
    async close() {
      end(state);
      await done.catch(() => {});
    },
  };
}

async function runWorker(state: State, lane: Lane, number: number): Promise<void> {
  let pace: WritePace = FULL_WRITE_PACE;
  const slowDown = async (reason: string, error?: unknown): Promise<void> => {
    noteTrouble(state, reason, error);
    // Other workers may take the unwritten documents again, at any position.
    state.turn = undefined;
    pace = slowerPace(pace);
    await state.changed.until(() => state.stopping, waitOf(pace));
  };
  while (!state.stopping) {
    const seen = state.wakes;
    const hasMore = () => state.stopping || state.wakes !== seen;
    const kind = kindOf(state, lane);
    if (kind === 'shared' && number > REQUESTS.shared) {
      await (state.stale.oldest(lane) === undefined
        ? state.changed.until(hasMore)
        : state.changed.until(() => state.stopping, LOOK_EVERY));
      continue;
    }
    try {
      const result = await workOnce(state, lane, bytesAt(pace, kind));
      if (result === 'nothing') await state.changed.until(hasMore);
      else if (result.again !== undefined) await slowDown(result.again);
      else {
        pace = adjustedPace(pace, kind, result.bytes, result.took);
        noteProgress(state);
      }
    } catch (error) {
      if (error instanceof GraphFailure) throw error.cause;
      await slowDown((error as Error).message, error);
    }
  }
}

function kindOf(state: State, lane: Lane): PaceKind {
  if (lane === 'prompt') return lane;
  return isShared(state) ? 'shared' : lane;
}

/** Returns whether writes wait for documents or did a moment ago, or whether other requests have priority. */
function isShared({ stale, lastPrompt, options }: State): boolean {
  if (options.isThrottled?.() === true || performance.now() - lastPrompt < THROTTLED_MS) return true;
  return stale.oldest('prompt') !== undefined;
}

/** Outcome of one request; `again`: the reason for a retry, if any. */
type Worked = { readonly again: string | undefined; readonly bytes: number; readonly took: number };

const NOT_SENT: Worked = Object.freeze({ again: undefined, bytes: 0, took: 0 });

/** Sends one request; none if there is nothing to write. */
async function workOnce(state: State, lane: Lane, bytes: number): Promise<'nothing' | Worked> {
  const next = await nextBatch(state, lane, bytes);
  if (next === undefined) return finishBacklog(state, lane);
  const { batch, unmakable } = next;
  const { documents, position } = batch;
  if (lane === 'prompt') state.lastPrompt = performance.now();
  try {
    settle(state, position, unmakable);
    if (documents.length === 0) return NOT_SENT;
    const worked = await sendInTurn(state, lane, batch);
    if (lane === 'backlog') await state.refreshes.refreshNowAndThen(isDelayed(state));
    return worked;
  } finally {
    state.index.release(batch.sent);
    release(state, [...documents, ...unmakable.map(({ document }) => document)], position);
    noteChange(state);
  }
}

async function sendInTurn(state: State, lane: Lane, batch: Batch): Promise<Worked> {
  const most = () => (isShared(state) ? REQUESTS.shared : REQUESTS.alone);
  if (lane === 'backlog') {
    // If several workers wake together, the first one continues.
    while (state.requests >= most()) await state.changed.until(() => state.requests < most());
    state.requests++;
  }
  const started = performance.now();
  try {
    const { settled, again } = await sendBatch(state, batch, lane === 'prompt');
    const took = performance.now() - started;
    if (lane === 'backlog') state.refreshes.written(oldestOf(batch.documents));
    settle(state, batch.position, settled);
    return { again, bytes: batch.bytes, took };
  } finally {
    if (lane === 'backlog') {
      state.requests--;
      state.changed.check();
    }
  }
}

function settle(state: State, position: bigint, settlements: readonly Settlement[]): void {
  if (settlements.length === 0) return;
  onGraph(() => state.stale.settle(position, settlements));
  const refused = settlements.flatMap(({ document: { type, world, key }, refused: reason }) =>
    reason === undefined ? [] : [{ type, world, key, reason }],
  );
  state.written += settlements.length - refused.length;
  if (refused.length > 0) state.options.report({ kind: 'refused', documents: refused });
}

function oldestOf(documents: readonly StaleRow[]): bigint {
  return BigInt(Math.min(...documents.map(({ since }) => since)));
}

/** Handles an empty backlog: makes its documents visible, and wakes callers that wait for this. */
async function finishBacklog(state: State, lane: Lane): Promise<'nothing'> {
  if (lane === 'prompt' || state.refreshes.oldest() === undefined) return 'nothing';
  await state.refreshes.refresh();
  noteChange(state);
  return 'nothing';
}

function end(state: State): void {
  state.stopping = true;
  state.changed.check();
}

function noteChange(state: State): void {
  if (!state.stopping) state.options.progressed?.();
  state.changed.check();
}

function noteTrouble(state: State, reason: string, error?: unknown): void {
  if (state.stuck) return;
  state.stuck = true;
  state.options.report({ kind: 'stuck', reason, error });
}

function noteProgress(state: State): void {
  if (!state.stuck) return;
  state.stuck = false;
  state.options.report({ kind: 'recovered' });
}
