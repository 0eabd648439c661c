import { createCondition } from '../../shared/condition.ts';
import { valueAt } from '../../shared/map-values.ts';
import { within } from './hand-over.ts';
import { isPaused } from './is-paused.ts';
import type { Followers, Follows, ReadingWorker } from './protocol.ts';
import { countLoss, restartDelay } from './restart-delay.ts';
import type { WorkerEnd, WorkerProcess } from './worker-process.ts';

/** The reading workers: they answer reads and are never the leader. Also the positions that all workers in rotation show. */
export type ReadingWorkers = {
  /** Called when the leader serves. Starts the reading workers. */
  want(followers: Followers, leading: WorkerProcess): void;
  /** Adds a worker: a write is acknowledged only if this worker shows it. */
  join(worker: WorkerProcess): void;
  /** A sign of life. `position`: the worker's reads show the log up to it. */
  heard(worker: WorkerProcess, position: bigint): void;
  /** Resolves when every worker that answers reads shows the log up to a position. */
  shown(position: bigint): Promise<void>;
  /** A worker no longer answers requests by itself. */
  left(worker: WorkerProcess): void;
  /** Ends all these workers. Resolves when none answers reads by itself. */
  retire(): Promise<void>;
  /** Workers that answer reads. */
  all(): readonly WorkerProcess[];
  /** The same workers, with the position that each shows. */
  states(): readonly ReadingWorker[];
  /** Workers that answer their last requests. */
  retired(): readonly WorkerProcess[];
};

export type ReadingWorkersOptions = {
  readonly start: (follows: Follows) => WorkerProcess;
  readonly reportCrash: (end: WorkerEnd) => void;
  readonly isStopping: () => boolean;
  /** Time that a worker has for its last requests. */
  readonly drainMs: () => number;
};

/** State of a worker that gives signs of life, as the supervisor has heard it. */
type Seen = {
  shows: bigint;
  /** A write is acknowledged only if this worker shows it. */
  isCounted: boolean;
  /** Checks since the last sign of life, and since the worker made progress or had nothing to apply. */
  silentLooks: number;
  lateLooks: number;
};

/** A reading worker. `left`: it no longer answers requests by itself. */
type Reader = { readonly left: PromiseWithResolvers<void>; isRetired: boolean };

/** A worker is killed after this time without a sign of life, or without progress while a write waits for it. */
const LOOK_MS = 250;
const LOOKS = 8;
/** A worker that a signal has stopped is killed sooner: it is not just busy. */
const PAUSED_LOOKS = 3;
/** Limit for passing requests on to the next workers. */
const LEAVE_MS = 5_000;

/** Creates the state without workers. Kills a worker after 2 s without a sign of life, or 1 s if a signal has stopped it. */
export function createReadingWorkers(options: ReadingWorkersOptions): ReadingWorkers {
  /** Workers that give signs of life, including the leader. */
  const watched = new Map<WorkerProcess, Seen>();
  const readers = new Map<WorkerProcess, Reader>();
  const moved = createCondition();
  let awaited = 0n;
  let wanted: Followers | undefined;
  let isLooking = false;

  const isShown = (position: bigint) =>
    [...watched.values()].every(({ isCounted, shows }) => !isCounted || shows >= position);

  function readersThat(areRetired: boolean): readonly WorkerProcess[] {
    return [...readers].flatMap(([worker, { isRetired }]) => (isRetired === areRetired ? [worker] : []));
  }

  function watch(worker: WorkerProcess): Seen {
    const seen = valueAt(watched, worker, () => ({
      shows: -1n,
      isCounted: false,
      silentLooks: 0,
      lateLooks: 0,
    }));
    if (!isLooking) setInterval(look, LOOK_MS);
    isLooking = true;
    return seen;
  }

  /** Counts checks instead of time: a supervisor that was itself stopped must not kill its workers. */
  function look(): void {
    if (options.isStopping()) return;
    for (const [worker, seen] of watched) {
      seen.silentLooks++;
      const isLate = seen.isCounted && seen.shows < awaited;
      seen.lateLooks = isLate ? seen.lateLooks + 1 : 0;
      if (seen.silentLooks > LOOKS || seen.lateLooks > LOOKS || isPausedWorker(worker, seen)) worker.kill();
    }
  }

  function isPausedWorker({ pid }: WorkerProcess, { silentLooks }: Seen): boolean {
    return silentLooks > PAUSED_LOOKS && pid !== undefined && isPaused(pid);
  }

  function forget(worker: WorkerProcess): void {
    watched.delete(worker);
    readers.get(worker)?.left.resolve();
    moved.check();
  }

  /** Runs one of these workers, and starts it again when it ends, until others are wanted. */
  function run(number: number, followers: Followers, losses = 0): void {
    const isWanted = () => wanted === followers && !options.isStopping();
    const started = performance.now();
    const worker = options.start({ number, graph: followers.graph });
    readers.set(worker, { left: Promise.withResolvers(), isRetired: false });
    // Never rejects: the end of a worker only resolves.
    void worker.ended.then((end) => {
      forget(worker);
      readers.delete(worker);
      if (!isWanted()) return;
      options.reportCrash(end);
      const lost = countLoss(losses, started);
      setTimeout(() => isWanted() && run(number, followers, lost), restartDelay(lost));
    });
  }

  return {
    want(followers, leading) {
      const watchedLeading = watch(leading);
      watchedLeading.silentLooks = 0;
      // Never rejects: the end of a worker only resolves.
      void leading.ended.then(() => forget(leading));
      // If the leader was restarted, the reading workers are running already.
      if (wanted?.graph === followers.graph) return;
      wanted = followers;
      for (let number = 1; number <= followers.count; number++) run(number, followers);
    },
    join(worker) {
      watch(worker).isCounted = true;
    },
    heard(worker, position) {
      const seen = watched.get(worker);
      if (seen === undefined) return;
      seen.silentLooks = 0;
      if (position <= seen.shows) return;
      seen.shows = position;
      seen.lateLooks = 0;
      moved.check();
    },
    async shown(position) {
      if (position > awaited) awaited = position;
      await moved.until(() => isShown(position));
    },
    left: forget,
    async retire() {
      wanted = undefined;
      const leaving = [...readers].filter(([, { isRetired }]) => !isRetired);
      await Promise.all(
        leaving.map(async ([worker, reader]) => {
          reader.isRetired = true;
          worker.send({ kind: 'stop', reason: 'replaced' });
          setTimeout(() => worker.kill(), options.drainMs() + LEAVE_MS).unref();
          if (await within(LEAVE_MS, [reader.left.promise, worker.ended])) return;
          worker.kill();
          await worker.ended;
        }),
      );
    },
    all: () => readersThat(false),
    states: () =>
      readersThat(false).map((worker) => {
        const shows = watched.get(worker)?.shows ?? -1n;
        return { pid: worker.pid ?? 0, position: shows < 0n ? null : String(shows) };
      }),
    retired: () => readersThat(true),
  };
}
