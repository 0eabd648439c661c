import { createCondition } from '../../shared/condition.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { ChangeBatch } from '../../shared/read-index/read-index.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { ReadSide } from '../read-side/read-side.ts';
import { createLogHead } from '../stores/log-head.ts';

export type FreshnessOptions = {
  readonly readSide: Pick<ReadSide, 'index' | 'sink' | 'shows'>;
  /** Tokens and rights are read from the log as well. */
  readonly access: Pick<AccessControl, 'applied'>;
  readonly log: Pick<EventStore, 'lastPosition'>;
  /** Maximum wait of a read, in milliseconds. */
  readonly waitMs: number;
};

const LOOK_MS = 1_000;

/**
 * Creates the freshness of a read side, for a process that applies the log itself. `waitMs` bounds how long a request waits for a position.
 */
export function createFreshness({ readSide, access, log, waitMs }: FreshnessOptions) {
  const { index, sink } = readSide;
  const moved = createCondition();
  const reached: Reach = (position, ms) => moved.until(() => position <= index.position(), ms);
  return {
    position: index.position,
    head: createLogHead(log).reaches,
    // Indices outside are written by another process, too: they have to be looked at.
    beyond: (position: bigint) => moved.until(() => index.position() > position, LOOK_MS),
    /** The index gets its batches through this. */
    sink: {
      async apply(batch: ChangeBatch): Promise<void> {
        await sink.apply(batch);
        moved.check();
      },
    },
    /** Resolves with true as soon as this process has applied the log up to a position, whether searches show it or not. */
    applied: (position: bigint) => reachAll(position, waitMs, [reached, access.applied]),
    shows: (position: bigint) => reachAll(position, waitMs, [reached, access.applied, readSide.shows]),
  };
}

/** Resolves with true as soon as a position is reached, with false after `timeoutMs`. */
export type Reach = (position: bigint, timeoutMs: number) => Promise<boolean>;

/** One after the other, all of them together within the time. */
export async function reachAll(
  position: bigint,
  timeoutMs: number,
  reaches: readonly Reach[],
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (const reach of reaches) {
    if (!(await reach(position, Math.max(0, Math.ceil(deadline - performance.now()))))) return false;
  }
  return true;
}
