import { setTimeout as delay } from 'node:timers/promises';
import type { PurgingLeader, PurgingLeaderStore } from '../../shared/read-index/purging-leader.ts';
import type { Lifetime } from '../delivery/lifetimes.ts';
import type { Purged } from '../delivery/tagging.ts';

const LOOK_EVERY_MS = 500;
/**
 * Maximum age in milliseconds of a look at the end of the log, of an announcement that a process has read, and of an answer when it is
 * sent. The second purge of a change comes later than that.
 */
export const LONGEST_MS = 2_000;

export type AnnouncedLeader = {
  readonly store: PurgingLeaderStore;
  /** Returns this leader, as it is now. */
  readonly leader: () => PurgingLeader;
  /** Called when processes may have let caches keep answers of another shape. */
  readonly changed: () => void;
  /** Aborted when this process is no longer the leader. */
  readonly signal: AbortSignal;
  /** Called for the first failure in a row. */
  readonly failed: (error: unknown) => void;
};

/** Announces the leader to the processes that answer from its documents, until it is no longer the leader. Never rejects. */
export function announceLeader({ store, leader, changed, signal, failed }: AnnouncedLeader): Promise<void> {
  const announce = async (): Promise<void> => {
    const found = await store.read();
    const mine = leader();
    if (isSame(found, mine) || signal.aborted) return;
    await store.write(mine);
    if (found?.shape !== mine.shape) changed();
  };
  return repeat(announce, signal, failed);
}

/**
 * Lets caches keep answers while a leader of the newest epoch purges them, and answers of this process have the same shape. Forbids it
 * before `start`. `lifetime`: see `Purged`.
 */
export function watchPurgingLeader(store: Pick<PurgingLeaderStore, 'read'>, lifetime: Lifetime) {
  const closing = new AbortController();
  let current = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | undefined;
  const purged: Purged = {
    lifetime,
    // An answer ranked by words depends on documents that no tag names.
    isRanked: false,
    isPurging: (began) => performance.now() - Math.min(began, current) < LONGEST_MS,
  };
  return {
    purged,
    /** `expected`: the leader of the newest claim, with the shape of this process's answers. `failed`: see `announceLeader`. */
    start(expected: () => PurgingLeader, failed: AnnouncedLeader['failed']): void {
      const look = async (): Promise<void> => {
        const asked = performance.now();
        current = isSame(await store.read(), expected()) ? asked : Number.NEGATIVE_INFINITY;
      };
      // Never rejects: failures are reported and repeated.
      running = repeat(look, closing.signal, failed);
    },
    async close(): Promise<void> {
      closing.abort();
      await running;
    },
  };
}

function isSame(found: PurgingLeader | undefined, { epoch, shape }: PurgingLeader): boolean {
  return found?.epoch === epoch && found.shape === shape;
}

/** Does work every half second until the signal is aborted. Never rejects. `failed`: called for the first failure in a row. */
export async function repeat(
  work: () => Promise<void>,
  signal: AbortSignal,
  failed: (error: unknown) => void,
): Promise<void> {
  for (let isFailing = false; !signal.aborted; ) {
    try {
      await work();
      isFailing = false;
    } catch (error) {
      if (!isFailing && !signal.aborted) failed(error);
      isFailing = true;
    }
    await delay(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}
