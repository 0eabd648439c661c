import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { FindPreview } from './moments.ts';

export type PreviewOptions = {
  readonly log: Pick<EventStore, 'lastPosition'>;
  /** Returns the times of the releases that are due at an instant, in ascending order. */
  readonly due: (until: number) => readonly number[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
};

/** A preview may be so old. While content changes, each one takes a new process. */
const KEPT_MS = 5_000;

/**
 * Creates the search of previews. All instants between two releases name the same one. Its content is that of now, or of up to five seconds
 * ago.
 */
export function createFindPreview({ log, due, now }: PreviewOptions): FindPreview {
  let known = { position: 0n, at: Number.NEGATIVE_INFINITY };
  return async (until) => {
    const at = now();
    if (Math.abs(at - known.at) > KEPT_MS) known = { position: await log.lastPosition(), at };
    return { position: known.position, until: due(until).at(-1) ?? 0 };
  };
}
