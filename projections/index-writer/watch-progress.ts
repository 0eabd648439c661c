import { setTimeout as delay } from 'node:timers/promises';
import { createCondition } from '../../shared/condition.ts';
import type { ProgressStore } from '../../shared/read-index/index-progress.ts';
import type { StaleDocuments } from '../graph/stale/stale-documents.ts';

export type WatchProgressOptions = {
  readonly store: ProgressStore;
  /** Stale documents of a process that may become leader; undefined in one that only reads. */
  readonly stale: StaleDocuments | undefined;
};

/**
 * Progress of documents that another process writes. It is read every few milliseconds while a caller waits, now and
 * then while there are marks to remove, and otherwise not at all.
 */
export type ProgressWatch = {
  /** Position that searches show, as far as known here. */
  position(): bigint;
  /** Resolves with true as soon as searches show everything up to a position, with false after `timeoutMs`. */
  reached(position: bigint, timeoutMs?: number): Promise<boolean>;
  /** Asks now. Rejects when it cannot be had. */
  look(): Promise<void>;
  /** The graph has changed: there may be marks to forget. */
  wake(): void;
  close(): Promise<void>;
};

const WAITED_FOR_EVERY = 20;
const FORGET_EVERY = 1_000;

/** Creates a watch at position 0. It asks every 20 ms while a caller waits, and every second while `stale` has marks. */
export function watchProgress({ store, stale }: WatchProgressOptions): ProgressWatch {
  let position = 0n;
  let waiting = 0;
  let closed = false;
  let sleep = new AbortController();
  let running: Promise<void> | undefined;
  const moved = createCondition();

  const look = async (): Promise<void> => {
    const progress = await store.read();
    if (progress === undefined || closed) return;
    if (progress.position > position) position = progress.position;
    stale?.settleUpTo(progress);
    moved.check();
  };
  const hasMarks = () => stale !== undefined && (!stale.isComplete() || stale.count().rows > 0);
  const isNeeded = () => !closed && (waiting > 0 || hasMarks());
  const run = async (): Promise<void> => {
    while (isNeeded()) {
      // Not available now: every waiting caller has a time limit.
      await look().catch(() => {});
      sleep = new AbortController();
      const pause = waiting > 0 ? WAITED_FOR_EVERY : FORGET_EVERY;
      if (isNeeded()) await delay(pause, undefined, { signal: sleep.signal, ref: false }).catch(() => {});
    }
  };
  const start = (): void => {
    if (!isNeeded()) return;
    running ??= run().finally(() => {
      running = undefined;
      start();
    });
  };
  return {
    position: () => position,
    look,
    async reached(wanted, timeoutMs) {
      if (wanted <= position) return true;
      waiting++;
      start();
      if (waiting === 1) sleep.abort();
      try {
        return await moved.until(() => wanted <= position, timeoutMs);
      } finally {
        waiting--;
      }
    },
    wake: start,
    async close() {
      closed = true;
      sleep.abort();
      await running;
    },
  };
}
