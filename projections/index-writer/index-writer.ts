import { type Condition, createCondition } from '../../shared/condition.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import type { ContentGraph } from '../graph/content-graph.ts';
import {
  accountOf,
  type Settlement,
  type StaleDocument,
  type StaleDocuments,
} from '../graph/stale/stale-documents.ts';
import type { Lane } from '../graph/stale/stale-rows.ts';
import { type Batch, nextBatch, release, sendBatch, type Work } from './lane.ts';
import { bytesAt, FULL_PACE, type Pace, type PaceKind, paced, slower, waitOf } from './pace.ts';
import { createRefreshes, type Refreshes } from './refreshes.ts';

export type IndexWriterOptions = {
  readonly graph: ContentGraph;
  readonly index: DocumentIndex;
  /** Told when the index does not take documents, and when it does again. */
  readonly report: (report: WriterReport) => void;
  /** What `shown` answers may have changed. */
  readonly progressed?: () => void;
  /** Whether the backlog is to make room for others than those who edit. */
  readonly makesRoom?: () => boolean;
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
   * Resolves when searches see what changed at a position: the rows themselves, and the documents that embed them where they
   * are few. Waits as long as the index takes no documents, but not for what changed before, if the same rows do not show it.
   */
  visible(position: bigint): Promise<void>;
  /** The same for everything that changed up to a position. */
  level(position: bigint): Promise<void>;
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
 * What writes wait for goes one request at a time: each takes along all that came meanwhile. Of the backlog one worker more than
 * there may be requests makes the documents of the next. While there are such writes the backlog has one request, a small
 * one: else they would queue behind it.
 */
const WORKERS: Readonly<Record<Lane, number>> = { prompt: 1, backlog: 3 };
const REQUESTS = { alone: 2, shared: 1 };
/** Milliseconds after the last write for which the backlog makes room. */
const ROOM_FOR = 1_000;
/** Milliseconds after which a worker that makes room looks again. */
const LOOK_EVERY = 200;

type State = Work & {
  readonly options: IndexWriterOptions;
  /** Checked after every change of this state. */
  readonly changed: Condition;
  /** How often there was something to do. */
  wakes: number;
  /** Requests of the backlog that are under way. */
  requests: number;
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
  const stale = accountOf(graph);
  const giveUp = new AbortController();
  const state: State = {
    ...{ options, stale, index, taken: new Map(), turn: undefined, position: graph.position, now: Date.now },
    ...{ changed: createCondition(), wakes: 0, requests: 0, stopping: false, stuck: false, written: 0 },
    ...{ lastPrompt: Number.NEGATIVE_INFINITY },
    ...{ refreshes: createRefreshes(index), giveUp, given: giveUp.signal },
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
    level: (position) => wait(() => (stale.oldest('prompt') ?? position + 1n) > position),
    shown: () => shownPosition(state),
    atRest: () => wait(() => oldestUnseen(state) === undefined),
    status: () => statusOf(state, stale),
    done,
    stop() {
      giveUp.abort();
      end(state);
    },
    async close() {
      end(state);
      await done.catch(() => {});
    },
  };
}

/** Of the oldest change that some document does not show to searches. */
function oldestUnseen({ stale, refreshes }: State): bigint | undefined {
  return older(oldestStale(stale), refreshes.oldest());
}

function oldestStale(stale: StaleDocuments): bigint | undefined {
  return older(stale.oldest('prompt'), stale.oldest('backlog'));
}

function older(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a;
}

/** Some document is to be written that shows a change as old as those which a refresh would make visible. */
function isHeldBack({ stale, refreshes }: State): boolean {
  const [toWrite, toSee] = [oldestStale(stale), refreshes.oldest()];
  return toWrite !== undefined && toSee !== undefined && toWrite <= toSee;
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

async function runWorker(state: State, lane: Lane, number: number): Promise<void> {
  let pace: Pace = FULL_PACE;
  const slowDown = async (reason: string, error?: unknown): Promise<void> => {
    noteTrouble(state, reason, error);
    // What was not written is free again, wherever it stands.
    state.turn = undefined;
    pace = slower(pace);
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
        pace = paced(pace, kind, result.bytes, result.took);
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

/** There are writes whose documents somebody waits for, or there were a moment ago; or others are to have room. */
function isShared({ stale, lastPrompt, options }: State): boolean {
  if (options.makesRoom?.() === true || performance.now() - lastPrompt < ROOM_FOR) return true;
  return stale.oldest('prompt') !== undefined;
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

/** What became of one request; `again`: why it is to be tried once more, if it is. */
type Worked = { readonly again: string | undefined; readonly bytes: number; readonly took: number };

const NOT_SENT: Worked = Object.freeze({ again: undefined, bytes: 0, took: 0 });

/** One request, or none when there is nothing to write. */
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
    if (lane === 'backlog') await state.refreshes.refreshNowAndThen(isHeldBack(state));
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
    // Of several who are woken together, the first goes on.
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

function oldestOf(documents: readonly StaleDocument[]): bigint {
  return BigInt(Math.min(...documents.map(({ since }) => since)));
}

/** The backlog is empty: what it wrote becomes visible, and whoever waits for rest goes on. */
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
  state.options.report({ kind: 'going on' });
}
