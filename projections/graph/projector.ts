import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Backoff, backoffMs } from '../../shared/backoff.ts';
import { createCondition } from '../../shared/condition.ts';
import type { EventStore, StoredEvent, Subscription } from '../../shared/event-store/event-store.ts';
import { splitAtStop, UnreadableEvent } from '../../shared/event-store/unreadable.ts';
import { createLocks } from '../../shared/locks.ts';
import type { ChangeBatch, ReadIndex } from '../../shared/read-index/read-index.ts';
import { isDiskFull } from '../../shared/sqlite/failures.ts';
import type { ContentGraph } from './content-graph.ts';
import { createSearchNames } from './name-searched.ts';

const BATCH_SIZE = 1_000;
/** A replay uses larger batches, because fewer transactions write each page fewer times. */
const CATCH_UP_BATCH_SIZE = 5_000;

export type CatchUpOptions = {
  /** The last event to be applied. Default: the end of the log. */
  readonly until?: bigint;
  /** Events of a transaction. */
  readonly batchSize?: number;
  /** Called after each transaction with its number of events. If it resolves to `stop`, the replay ends early. */
  readonly onBatch?: (events: number) => Promise<'continue' | 'stop'>;
};

/**
 * Applies the log to its end, before there is an index: at start, and in a rebuild. The checkpoint moves with every batch, so an
 * interrupted replay continues from there. If this program cannot read an event, stops before it and resolves to it.
 */
export async function catchUp(
  eventStore: EventStore,
  graph: Pick<ContentGraph, 'readFrom' | 'replay'>,
  { until, batchSize = CATCH_UP_BATCH_SIZE, onBatch }: CatchUpOptions = {},
): Promise<StoredEvent | undefined> {
  // Records the searched range, so that the next steps and the next start do not search it again.
  const searched = (upTo: bigint) => graph.replay([], upTo);
  for await (const read of eventStore.readAll(graph.readFrom(), { batchSize, searched })) {
    const wanted = until === undefined ? read : read.filter(({ position }) => position <= until);
    const { readable: events, stop } = splitAtStop(wanted);
    graph.replay(events);
    if (stop !== undefined) return stop;
    if (events.length < read.length || (await onBatch?.(events.length)) === 'stop') return undefined;
  }
  return undefined;
}

/** Applies the log to its end, like catchUp. Throws UnreadableEvent unless the whole log can be read. */
export async function catchUpOrThrow(...parameters: Parameters<typeof catchUp>): Promise<void> {
  const stop = await catchUp(...parameters);
  if (stop !== undefined) throw new UnreadableEvent(stop);
}

/**
 * Returns the applied position of a process whose index shows the log up to `shown`. It is later if the graph has searched further and
 * found no event of the namespace.
 */
export function appliedUpTo(graph: Pick<ContentGraph, 'position' | 'readFrom'>, shown: bigint): bigint {
  return shown >= graph.position() && graph.readFrom() > shown ? graph.readFrom() : shown;
}

/**
 * Loads all rows and links of the graph into the index. The graph must not change in between, and the index has caught up only once this
 * has resolved.
 */
export async function loadReadIndex(
  graph: Pick<ContentGraph, 'readAll'>,
  readIndex: Pick<ReadIndex, 'apply'>,
): Promise<void> {
  for (const batch of graph.readAll()) {
    await readIndex.apply(batch);
    // Meanwhile requests are answered that the server is starting.
    await nextTurn();
  }
}

export type Projector = {
  /**
   * Resolves when the graph and the index have applied the log up to `position`. Rejects when the projector has stopped, with
   * UnreadableEvent when it stopped before an event that this program cannot read.
   */
  applied(position: bigint): Promise<void>;
  /** Runs work while no events are applied, so that nothing waits for the file of the graph. Later writes are shown after it. */
  hold<Result>(work: () => Promise<Result>): Promise<Result>;
  /**
   * Rejects if an event could not be applied, because the served content would be wrong from then on. Resolves on close. Before an
   * unreadable event the projector only stops, because the content is right up to that event.
   */
  readonly done: Promise<void>;
  close(): Promise<void>;
};

export type ProjectorOptions = {
  readonly eventStore: EventStore;
  readonly graph: ContentGraph;
  /** Loaded up to the graph's position; undefined if only the graph is updated (an import). */
  readonly readIndex: Pick<ReadIndex, 'apply'> | undefined;
  /** Called with every batch once it is applied, before waiting callers continue. */
  readonly applied?: (events: readonly StoredEvent[]) => void;
  /**
   * Called with an error when the graph's disk is full and the projector waits for space. Called without one when the projector continues.
   */
  readonly waiting?: (error: Error | undefined) => void;
  /** Returns whether the projector stops before a readable event, because another process applies the log from there on. */
  readonly endsBefore?: (event: StoredEvent) => boolean;
  /** Called with the event that the projector stopped before. */
  readonly stopped?: (event: StoredEvent) => void;
};

/**
 * Applies the log from the graph's checkpoint on. Each batch of events becomes one transaction of the graph, then one batch of the index.
 * Then callers that wait for its position continue. A crash in between loses nothing, because the next start loads the index from the
 * graph.
 */
export function startProjector(options: ProjectorOptions): Projector {
  const { eventStore, graph, readIndex } = options;
  let appliedPosition = graph.readFrom();
  const moved = createCondition();
  const closed = Promise.withResolvers<void>();
  const closing = new AbortController();
  const locks = createLocks();
  const hold = <Result>(work: () => Promise<Result>) => locks.run(['graph'], work);
  const name = createSearchNames(eventStore, graph, hold);

  const handle = async (events: readonly StoredEvent[], upTo: bigint): Promise<void> => {
    const { readable, stop } = splitAtStop(events, options.endsBefore);
    if (stop === undefined || readable.length > 0) {
      await hold(() => apply(readable, stop === undefined ? upTo : (readable.at(-1)?.position ?? upTo)));
    }
    if (stop !== undefined) throw new UnreadableEvent(stop);
  };
  const apply = async (events: readonly StoredEvent[], upTo: bigint): Promise<void> => {
    const batch = await applyAfterFullDisk(options, () => graph.apply(events, upTo), closing.signal);
    if (batch === undefined) return;
    await readIndex?.apply(batch);
    appliedPosition = upTo;
    options.applied?.(events);
    moved.check();
    // Never rejects.
    void name();
  };

  const subscription: Subscription = eventStore.subscribe(appliedPosition, handle, { batchSize: BATCH_SIZE });
  const done = subscription.done.then(
    () => moved.fail(new Error('the projector was closed')),
    async (error: Error) => {
      moved.fail(error);
      if (!(error instanceof UnreadableEvent)) throw error;
      options.stopped?.(error.event);
      await closed.promise;
    },
  );
  // The caller watches `done`; without a caller it must not end the process.
  done.catch(() => {});
  return {
    async applied(position) {
      await moved.until(() => position <= appliedPosition);
    },
    hold,
    done,
    close() {
      closed.resolve();
      const closes = subscription.close();
      closing.abort();
      return closes;
    },
  };
}

const FULL_DISK_BACKOFF: Backoff = { firstMs: 1_000, longestMs: 30_000 };

/**
 * Applies events once the graph's disk has space; undefined if `signal` is aborted first. Opens the graph again, which takes time if it is
 * large.
 */
async function applyAfterFullDisk(
  { graph, waiting }: Pick<ProjectorOptions, 'graph' | 'waiting'>,
  apply: () => ChangeBatch,
  signal: AbortSignal,
): Promise<ChangeBatch | undefined> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      const batch = apply();
      if (failures > 0) waiting?.(undefined);
      return batch;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      failures++;
      if (failures === 1) waiting?.(error as Error);
      reopenUnlessDiskFull(graph);
      await graph.waitForFreeDisk(backoffMs(failures, FULL_DISK_BACKOFF), signal);
    }
  }
  return undefined;
}

/** If there is no space to open it either, the next attempt finds the graph unchanged and comes here again. */
function reopenUnlessDiskFull(graph: Pick<ContentGraph, 'reopen'>): void {
  try {
    graph.reopen();
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

/**
 * Applies the log like catchUp. Stops and returns `full` if the graph's disk is full. Then the process serves the applied content, and the
 * projector continues later.
 */
export async function catchUpUnlessDiskFull(
  eventStore: EventStore,
  graph: Pick<ContentGraph, 'readFrom' | 'replay' | 'reopen'>,
): Promise<StoredEvent | 'full' | undefined> {
  try {
    return await catchUp(eventStore, graph);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    graph.reopen();
    return 'full';
  }
}
