import { setTimeout as after } from 'node:timers/promises';
import { createPositionGate } from '../shared/position-gate.ts';
import type { AccessControl } from './access/access-control.ts';
import type { Freshness } from './http/await-position.ts';
import type { ReadSide } from './read-side.ts';

export type FreshnessOptions = {
  readonly readSide: Pick<ReadSide, 'index' | 'sink' | 'visible'>;
  /** Tokens and rights are read from the log as well. */
  readonly access: Pick<AccessControl, 'applied'>;
  /** How long a read may wait, in milliseconds. */
  readonly waitMs: number;
};

/** Of a process that follows the log itself: the index takes its batches by way of `sink`. */
export type FollowedFreshness = Freshness & { readonly sink: ReadSide['sink'] };

export function createFreshness({ readSide, access, waitMs }: FreshnessOptions): FollowedFreshness {
  const { index, sink, visible } = readSide;
  const gate = createPositionGate(index.position);
  return {
    position: index.position,
    sink: {
      async apply(batch) {
        await sink.apply(batch);
        gate.advanced();
      },
    },
    async shows(position) {
      const deadline = performance.now() + waitMs;
      const left = () => Math.max(0, deadline - performance.now());
      const isApplied =
        (await gate.reached(position, waitMs)) && (await access.applied(position, Math.ceil(left())));
      if (!isApplied || visible === undefined) return isApplied;
      return within(left(), visible(position));
    },
  };
}

async function within(timeoutMs: number, reached: Promise<void>): Promise<boolean> {
  const stop = new AbortController();
  try {
    const late = after(timeoutMs, false, { signal: stop.signal });
    return await Promise.race([reached.then(() => true), late]);
  } finally {
    stop.abort();
  }
}
