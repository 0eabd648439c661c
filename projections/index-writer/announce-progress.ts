import { setTimeout as delay } from 'node:timers/promises';
import { type Backoff, backoffMs } from '../../shared/backoff.ts';
import {
  type IndexProgress,
  PARKED_LIMIT,
  type ProgressStore,
} from '../../shared/read-index/index-progress.ts';
import type { ParkedDocuments, StaleDocuments } from '../graph/stale/stale-documents.ts';
import type { IndexWriter } from './index-writer.ts';

export type AnnounceProgressOptions = {
  readonly store: ProgressStore;
  readonly writer: Pick<IndexWriter, 'shown'>;
  readonly stale: Pick<StaleDocuments, 'disregarded'> & { readonly parked: Pick<ParkedDocuments, 'all'> };
  readonly epoch: number;
  /** Called once when the progress cannot be written. The write is retried. */
  readonly report: (error: Error) => void;
};

/** Publishes the leader's progress to all other processes: the position up to which documents have caught up with the log. */
export type ProgressAnnouncer = ReturnType<typeof announceProgress>;

const BACKOFF: Backoff = { firstMs: 100, longestMs: 5_000 };

/**
 * Starts an announcer for one term of the leader. It writes nothing before the first `advanced`, and retries after a growing pause of 0.1
 * to 5 s.
 */
export function announceProgress({ store, writer, stale, epoch, report }: AnnounceProgressOptions) {
  const closing = new AbortController();
  let announced = '';
  let last = 0n;
  let isOut = false;
  let running: Promise<void> | undefined;

  const announce = async (): Promise<void> => {
    for (let failures = 0; isOut && !closing.signal.aborted; ) {
      isOut = false;
      const progress = {
        epoch,
        position: writer.shown(),
        without: stale.disregarded(),
        parked: stale.parked.all().slice(0, PARKED_LIMIT),
      };
      const name = nameOf(progress);
      if (name === announced) continue;
      try {
        // A failed request may still have been stored.
        last = progress.position;
        await store.write(progress);
        announced = name;
        failures = 0;
      } catch (error) {
        isOut = true;
        failures++;
        if (failures === 1) report(error as Error);
        const wait = backoffMs(failures, BACKOFF);
        await delay(wait, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      }
    }
  };
  const start = (): void => {
    // Never rejects: a failure is reported and repeated.
    running ??= announce().finally(() => {
      running = undefined;
      if (isOut && !closing.signal.aborted) start();
    });
  };
  return {
    /** Writes the progress again, because it was lost. */
    again(): void {
      announced = '';
      isOut = true;
      start();
    },
    /** Notifies the announcer that something may have changed. A change during one announcement is part of the next. */
    advanced(): void {
      isOut = true;
      start();
    },
    /** Stops announcing. Resolves, when the current announcement has ended, to the last announced position, or to 0n if there is none. */
    async close(): Promise<bigint> {
      closing.abort();
      await running;
      return last;
    },
  };
}

/** Returns a text that is equal for equal progress. */
function nameOf({ position, without = [], parked }: IndexProgress): string {
  const names = parked.map(({ world, key, position, isHidden }) =>
    [world, key, position, isHidden].join(' '),
  );
  return [position, ...without, ...names].join();
}
