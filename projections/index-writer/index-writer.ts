import type { Backoff } from '../../shared/backoff.ts';
import { createCondition } from '../../shared/condition.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import type { ContentGraph } from '../graph/content-graph.ts';
import { staleDocumentsOf } from '../graph/stale/stale-documents.ts';
import { createRefreshes } from './refreshes.ts';
import { RETRY_PARKED, retryParked } from './retry-parked.ts';
import { createSuspects, SUSPECT_LIMITS, type SuspectLimits } from './suspects.ts';
import { oldestAwaited, oldestUnseen, shownPosition } from './unseen-changes.ts';
import { createWholeEdits } from './whole-edits.ts';
import { writeBacklog } from './write-backlog.ts';
import { writeLane } from './write-lane.ts';
import { type WriterStatus, writerStatus } from './writer-report.ts';
import { end, noteChange, settle, type WriterCallbacks, type WriterState } from './writer-state.ts';

export type IndexWriterOptions = WriterCallbacks & {
  readonly graph: ContentGraph;
  readonly index: DocumentIndex;
  /** Default: SUSPECT_LIMITS. */
  readonly suspectLimits?: SuspectLimits;
  /** Default: RETRY_PARKED. */
  readonly retryWaits?: Backoff;
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

/** Starts the lanes. They first make documents of earlier runs visible that were never refreshed. */
export function startIndexWriter(options: IndexWriterOptions): IndexWriter {
  const stopped = new AbortController();
  const state = createState(options, stopped.signal);
  const { stale } = state;
  const lanes = [writeLane(state, 'edits'), writeLane(state, 'copies'), writeBacklog(state)];
  const retrying = retryParked(state, options.retryWaits ?? RETRY_PARKED);
  const done = Promise.all([...lanes, state.suspects.run(), retrying]).then(() => {});
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
    allVisible: (position) => wait(() => (oldestAwaited(stale) ?? position + 1n) > position),
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

function createState(options: IndexWriterOptions, stopSignal: AbortSignal): WriterState {
  const { graph, index, suspectLimits: limits = SUSPECT_LIMITS } = options;
  const stale = staleDocumentsOf(graph);
  const changed = createCondition();
  const copying: WriterState['copying'] = new Map();
  const whole = createWholeEdits(
    changed,
    () => copying.values(),
    () => index.refresh(),
  );
  const work: Omit<WriterState, 'suspects'> = {
    options,
    stale,
    index,
    taken: new Map(),
    turn: undefined,
    position: graph.position,
    now: Date.now,
    changed,
    copying,
    whole,
    wakes: 0,
    stopping: false,
    stuck: new Set(),
    written: 0,
    lastPrompt: Number.NEGATIVE_INFINITY,
    refreshes: createRefreshes(whole, stale),
    stopSignal,
  };
  const suspects = createSuspects({
    work,
    changed: work.changed,
    limits,
    isStopping: () => state.stopping,
    settle(position, settlements) {
      settle(state, position, settlements);
      noteChange(state);
    },
  });
  const state: WriterState = { ...work, suspects };
  return state;
}
