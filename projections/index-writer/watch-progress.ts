import { setTimeout as delay } from 'node:timers/promises';
import { createCondition } from '../../shared/condition.ts';
import type { ProgressStore } from '../../shared/read-index/index-progress.ts';
import type { StaleDocuments } from '../graph/stale/stale-documents.ts';

export type WatchProgressOptions = {
  readonly store: ProgressStore;
  /** Stale documents in a process that may become leader; undefined in one that only reads. */
  readonly stale: StaleDocuments | undefined;
};

const WAITED_FOR_EVERY = 20;
const FORGET_EVERY = 1_000;

/**
 * Watches the progress of documents that another process writes, from position 0 on. It reads the progress every 20 ms while a caller
 * waits. It reads it every second while `stale` has marks to remove, and otherwise not at all.
 */
export function watchProgress({ store, stale }: WatchProgressOptions) {
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
      // A failed read is harmless: every waiting caller has a time limit.
      await look().catch(() => {});
      sleep = new AbortController();
      const pause = waiting > 0 ? WAITED_FOR_EVERY : FORGET_EVERY;
      if (isNeeded()) await delay(pause, undefined, { signal: sleep.signal, ref: false }).catch(() => {});
    }
  };
  const start = (): void => {
    if (!isNeeded()) return;
    // Never rejects: a failed look is ignored.
    running ??= run().finally(() => {
      running = undefined;
      start();
    });
  };
  return {
    /** Returns the position up to which searches see every change, as far as this process knows. */
    position: () => position,
    /** Reads the progress now. Rejects if it cannot be read. */
    look,
    /** Resolves to true as soon as searches see everything up to a position, and to false after `timeoutMs`. */
    async reached(wanted: bigint, timeoutMs?: number): Promise<boolean> {
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
    /** Notifies the watch that the graph has changed, so there may be marks to remove. */
    wake: start,
    async close(): Promise<void> {
      closed = true;
      sleep.abort();
      await running;
    },
  };
}
