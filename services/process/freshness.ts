import { createCondition } from '../../shared/condition.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { ChangeBatch } from '../../shared/read-index/read-index.ts';
import type { AccessControl } from '../access/access-control.ts';
import type { ReadSide } from '../read-side/read-side.ts';
import { createLogHead } from '../stores/log-head.ts';
import type { KnownSynonyms } from '../synonyms/open-synonyms.ts';

export type FreshnessOptions = {
  readonly readSide: Pick<ReadSide, 'index' | 'sink' | 'shows'>;
  /** Tokens and rights, which are also read from the log. */
  readonly access: Pick<AccessControl, 'applied'>;
  /** Synonyms, which are also read from the log. */
  readonly synonyms: Pick<KnownSynonyms, 'applied'>;
  readonly log: Pick<EventStore, 'lastPosition'>;
  /** Maximum time that a read waits for a position, in milliseconds. */
  readonly waitMs: number;
};

const LOOK_MS = 1_000;

/** Creates the freshness of a read side, for a process that applies the log itself. */
export function createFreshness({ readSide, access, synonyms, log, waitMs }: FreshnessOptions) {
  const { index, sink } = readSide;
  const moved = createCondition();
  const reached: Reach = (position, ms) => moved.until(() => position <= index.position(), ms);
  const followed = [reached, access.applied, synonyms.applied];
  return {
    position: index.position,
    head: createLogHead(log).reaches,
    // Another process may write an index outside of this process, so the position is read again and again.
    beyond: (position: bigint) => moved.until(() => index.position() > position, LOOK_MS),
    /** Passes batches on to the index. */
    sink: {
      async apply(batch: ChangeBatch): Promise<void> {
        await sink.apply(batch);
        moved.check();
      },
    },
    /** Resolves with true as soon as this process has applied the log up to a position, even if searches do not show it yet. */
    applied: (position: bigint) => reachAll(position, waitMs, followed),
    shows: (position: bigint) => reachAll(position, waitMs, [...followed, readSide.shows]),
  };
}

/** Resolves with true as soon as a position is reached, with false after `timeoutMs`. */
export type Reach = (position: bigint, timeoutMs: number) => Promise<boolean>;

/** Waits for several positions one after the other, within `timeoutMs` in all. */
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
