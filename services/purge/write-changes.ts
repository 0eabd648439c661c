import { isBusy } from '../../shared/sqlite/failures.ts';
import type { PurgeStore } from './purge-store.ts';
import type { PurgedTags } from './purge-target.ts';

export type ChangeWriterOptions = {
  readonly store: Pick<PurgeStore, 'add' | 'prune'>;
  /** Returns the change that purges all answers, at a position. */
  readonly all: (position: bigint) => PurgedTags;
  /** Returns whether this process is the leader, which alone writes the file. */
  readonly isLeading: () => boolean;
  /** Called after changes were stored or lost. */
  readonly moved: () => void;
  readonly failed: (error: unknown) => void;
};

/** A process keeps this many changes for receivers that do not answer. */
const MOST_CHANGES = 100_000;
const PRUNE_EVERY = 1_000;
/** A change waits this long for another process's lock of the file. */
const LOCKED_MS = 1_000;
/** Pauses between attempts: each one stops the thread that answers requests for a short time. */
const LOCKED_PAUSE_MS = 100;
const FAILED_PAUSE_MS = 1_000;

/**
 * Creates the writer of changes. Changes that cannot be stored are lost: then all answers have to be purged. The writer tries to store that
 * purge until the file can be written again.
 */
export function createChangeWriter({ store, all, isLeading, moved, failed }: ChangeWriterOptions) {
  let waiting: PurgedTags[] = [];
  let lost = 0;
  /** Position of the last lost change, until a purge of all answers is stored. */
  let lostAt: bigint | undefined;
  let lockedSince: number | undefined;
  let added = 0;
  let retry: NodeJS.Timeout | undefined;

  function write(): void {
    clearTimeout(retry);
    retry = undefined;
    if (!isLeading()) lockedSince = undefined;
    if (!isLeading() || isWhole()) return;
    try {
      const changes = lostAt === undefined ? waiting : [all(waiting.at(-1)?.position ?? lostAt)];
      store.add(changes);
      [waiting, lostAt, lockedSince] = [[], undefined, undefined];
      moved();
      prune(changes.length);
    } catch (error) {
      writeLater(error);
    }
  }

  function prune(count: number): void {
    added += count;
    if (added < PRUNE_EVERY) return;
    added = 0;
    store.prune(MOST_CHANGES);
  }

  function writeLater(error: unknown): void {
    lockedSince = isBusy(error) ? (lockedSince ?? performance.now()) : undefined;
    const waits =
      lockedSince !== undefined && lostAt === undefined && performance.now() - lockedSince < LOCKED_MS;
    retry = setTimeout(write, waits ? LOCKED_PAUSE_MS : FAILED_PAUSE_MS).unref();
    if (waits) return;
    if (waiting.length > 0) failed(error);
    lose();
  }

  function lose(): void {
    lost += waiting.length;
    lostAt = waiting.at(-1)?.position ?? lostAt;
    waiting = [];
    moved();
  }

  /** Returns whether the file has every change, or the purge of all answers. */
  function isWhole(): boolean {
    return lostAt === undefined && waiting.length === 0;
  }

  return {
    add(change: PurgedTags): void {
      waiting.push(change);
      // A locked file is only tried again after a pause.
      if (lockedSince === undefined) write();
      else if (lostAt !== undefined) lose();
    },
    /** Stores the changes that are not in the file. */
    write,
    /** Number of lost changes. */
    lost: () => lost,
    isWhole,
    close: () => clearTimeout(retry),
  };
}
