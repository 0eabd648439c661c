import type { DocumentIndex } from '../shared/read-index/document-index.ts';
import type { ContentGraph } from './content-graph.ts';
import type { Lane } from './graph/stale-rows.ts';
import { nextBatch, release, sendBatch, type Work } from './index-writer/lane.ts';
import { bytesAt, FULL_PACE, type Pace, paced, slower } from './index-writer/pace.ts';
import { createRefreshes, type Refreshes } from './index-writer/refreshes.ts';
import type { Settlement, StaleDocument, StaleDocuments } from './stale-documents.ts';

export type IndexWriterOptions = {
  readonly graph: ContentGraph;
  readonly index: DocumentIndex;
  /** Told when the index does not take documents, and when it does again. */
  readonly report: (report: WriterReport) => void;
  /** What `shown` answers may have changed. */
  readonly progressed?: () => void;
};

export type WriterReport =
  | { readonly kind: 'stuck'; readonly reason: string; readonly error?: unknown }
  | { readonly kind: 'going on' }
  | { readonly kind: 'refused'; readonly documents: readonly RefusedDocument[] };

export type RefusedDocument = {
  readonly type: string;
  readonly world: string;
  readonly key: number;
  readonly reason: string;
};

export type WriterStatus = {
  /** Documents that are out of date. */
  readonly backlog: number;
  /** Seconds since the first of them was marked; 0 at rest. */
  readonly oldestSeconds: number;
  readonly refused: number;
  /** Since the start. */
  readonly written: number;
};

/**
 * Keeps the documents of an index level with the graph: for the one process that writes them. It may be started and stopped
 * again and again over one graph, as leaders change; what an earlier one had in hand is written once more, which changes nothing.
 */
export type IndexWriter = {
  /** The graph has changed. */
  wake(): void;
  /**
   * Resolves when searches see what changed up to a position: the rows themselves, and the documents that embed them where they
   * are few. Waits as long as the index takes no documents.
   */
  visible(position: bigint): Promise<void>;
  /** Searches see everything up to this position, in the rows' own documents and in all that embed them. */
  shown(): bigint;
  /** Resolves when no document is out of date. */
  atRest(): Promise<void>;
  status(): WriterStatus;
  /** Rejects when the graph cannot be read. Resolves on close. */
  readonly done: Promise<void>;
  /** Gives up at once: from now on another process writes. Nobody who waits is told anything more. */
  stop(): void;
  /** Waits for what is under way. What is left is written after the next start. */
  close(): Promise<void>;
};

/**
 * Requests under way at once. What writes wait for goes one request at a time: each takes along all that came meanwhile. While
 * there are such writes the backlog has one request, a small one: else they would queue behind it.
 */
const WORKERS: Readonly<Record<Lane, number>> = { prompt: 1, backlog: 3 };
/** Milliseconds after the last write for which the backlog makes room. */
const ROOM_FOR = 1_000;
const PAUSE_STEP = 200;

type Waiter = { readonly isReached: () => boolean; readonly resolve: () => void };

type State = Work & {
  readonly options: IndexWriterOptions;
  readonly wakers: Set<() => void>;
  waiters: Waiter[];
  /** Counts wake-ups, so that none between looking and sleeping is missed. */
  changes: number;
  stopping: boolean;
  stuck: boolean;
  written: number;
  /** When a write was last waited for. */
  lastPrompt: number;
  readonly refreshes: Refreshes;
  readonly giveUp: AbortController;
};

/** Starts the workers. Documents of earlier runs that were never refreshed are made visible first. */
export function startIndexWriter(options: IndexWriterOptions): IndexWriter {
  const { graph, index } = options;
  const { stale } = graph;
  if (stale === undefined) throw new Error('the graph keeps no account of stale documents');
  const giveUp = new AbortController();
  const state: State = {
    ...{ options, stale, index, taken: new Map(), position: graph.position, now: Date.now },
    ...{ wakers: new Set(), waiters: [], changes: 0, stopping: false, stuck: false, written: 0 },
    ...{ lastPrompt: Number.NEGATIVE_INFINITY },
    ...{ refreshes: createRefreshes(index), giveUp, given: giveUp.signal },
  };
  const workers = (['prompt', 'backlog'] as const).flatMap((lane) =>
    Array.from({ length: WORKERS[lane] }, (_, at) => runWorker(state, lane, at === 0)),
  );
  const done = Promise.all(workers).then(() => {});
  done.catch(() => {
    state.stopping = true;
    wakeAll(state);
  });
  const wait = (isReached: () => boolean): Promise<void> =>
    isReached() ? Promise.resolve() : new Promise((resolve) => state.waiters.push({ isReached, resolve }));
  return {
    wake() {
      wakeAll(state);
      resolveWaiters(state);
    },
    visible: (position) => wait(() => (stale.oldest('prompt') ?? position + 1n) > position),
    shown: () => shownPosition(state),
    atRest: () => wait(() => oldestUnseen(state) === undefined),
    status: () => statusOf(state, stale),
    done,
    stop() {
      state.stopping = true;
      giveUp.abort();
      wakeAll(state);
    },
    async close() {
      state.stopping = true;
      wakeAll(state);
      await done.catch(() => {});
    },
  };
}

/** Of the oldest change that some document does not show to searches. */
function oldestUnseen({ stale, refreshes }: State): bigint | undefined {
  const known = [stale.oldest('prompt'), stale.oldest('backlog'), refreshes.oldest()];
  return known.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a));
}

function shownPosition(state: State): bigint {
  const unseen = oldestUnseen(state);
  const position = state.position();
  if (unseen === undefined || unseen > position) return position;
  return unseen > 0n ? unseen - 1n : 0n;
}

function statusOf(state: State, stale: StaleDocuments): WriterStatus {
  const { rows, oldest } = stale.count();
  return {
    backlog: rows,
    oldestSeconds: oldest === undefined ? 0 : Math.max(0, (Date.now() - oldest) / 1000),
    refused: stale.parked.list().length,
    written: state.written,
  };
}

async function runWorker(state: State, lane: Lane, isFirst: boolean): Promise<void> {
  let pace: Pace = FULL_PACE;
  const slowDown = async (reason: string, error?: unknown): Promise<void> => {
    noteTrouble(state, reason, error);
    pace = slower(pace, Math.random());
    await pause(state, pace.wait);
  };
  while (!state.stopping) {
    const seen = state.changes;
    const shared = isShared(state);
    if (shared && !isFirst) {
      await (state.stale.oldest(lane) === undefined ? untilChanged(state, seen) : pause(state, PAUSE_STEP));
      continue;
    }
    try {
      const started = performance.now();
      const result = await workOnce(state, lane, bytesAt(pace, shared && lane === 'backlog'));
      if (result === 'nothing') await untilChanged(state, seen);
      else if (result === undefined) {
        pace = paced(pace, performance.now() - started, shared && lane === 'backlog');
        noteProgress(state);
      } else await slowDown(result);
    } catch (error) {
      if (error instanceof GraphFailure) throw error.cause;
      await slowDown((error as Error).message, error);
    }
  }
}

/** There are writes whose documents somebody waits for, or there were a moment ago. */
function isShared({ stale, lastPrompt }: State): boolean {
  return performance.now() - lastPrompt < ROOM_FOR || stale.oldest('prompt') !== undefined;
}

/** The graph could not be read or written: nothing that another try would mend. */
class GraphFailure extends Error {}

function onGraph<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new GraphFailure('the content graph failed', { cause: error });
  }
}

/** One request, or none when there is nothing to write. Answers why it is to be tried again, if it is. */
async function workOnce(state: State, lane: Lane, bytes: number): Promise<'nothing' | string | undefined> {
  const next = await nextBatch(state, lane, bytes);
  if (next === undefined) return finishBacklog(state, lane);
  const { batch, unmakable } = next;
  const { documents, position } = batch;
  if (lane === 'prompt') state.lastPrompt = performance.now();
  try {
    settle(state, unmakable);
    if (documents.length === 0) return undefined;
    const { settled, again } = await sendBatch(state, batch, lane === 'prompt');
    if (lane === 'backlog') state.refreshes.written(oldestOf(documents));
    settle(state, settled);
    if (lane === 'backlog') await state.refreshes.refreshNowAndThen();
    return again;
  } finally {
    release(state, [...documents, ...unmakable.map(({ document }) => document)], position);
    resolveWaiters(state);
  }
}

function settle(state: State, settlements: readonly Settlement[]): void {
  if (settlements.length === 0) return;
  onGraph(() => state.stale.settle(settlements));
  const refused = settlements.flatMap(({ document: { type, world, key }, refused: reason }) =>
    reason === undefined ? [] : [{ type, world, key, reason }],
  );
  state.written += settlements.length - refused.length;
  if (refused.length > 0) state.options.report({ kind: 'refused', documents: refused });
}

function oldestOf(documents: readonly StaleDocument[]): bigint {
  return BigInt(Math.min(...documents.map(({ since }) => since)));
}

/** The backlog is empty: what it wrote becomes visible, and whoever waits for rest goes on. */
async function finishBacklog(state: State, lane: Lane): Promise<'nothing'> {
  if (lane === 'prompt' || state.refreshes.oldest() === undefined) return 'nothing';
  await state.refreshes.refresh();
  resolveWaiters(state);
  return 'nothing';
}

function resolveWaiters(state: State): void {
  if (!state.stopping) state.options.progressed?.();
  if (state.waiters.length === 0) return;
  const reached = state.waiters.filter(({ isReached }) => isReached());
  if (reached.length === 0) return;
  state.waiters = state.waiters.filter((waiter) => !reached.includes(waiter));
  for (const { resolve } of reached) resolve();
}

function noteTrouble(state: State, reason: string, error?: unknown): void {
  if (state.stuck) return;
  state.stuck = true;
  state.options.report({ kind: 'stuck', reason, error });
}

function noteProgress(state: State): void {
  if (!state.stuck) return;
  state.stuck = false;
  state.options.report({ kind: 'going on' });
}

/** Until something changes that `seen` does not know of. */
function untilChanged(state: State, seen: number): Promise<void> {
  if (state.stopping || state.changes !== seen) return Promise.resolve();
  return new Promise((resolve) => state.wakers.add(resolve));
}

/** So many milliseconds; less when the writer is closed. */
async function pause(state: State, milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  while (!state.stopping && performance.now() < until) {
    const left = until - performance.now();
    const timer = new Promise<void>(
      (resolve) => void setTimeout(resolve, Math.min(left, PAUSE_STEP)).unref(),
    );
    await timer;
  }
}

function wakeAll(state: State): void {
  state.changes++;
  const wakers = [...state.wakers];
  state.wakers.clear();
  for (const wake of wakers) wake();
}
