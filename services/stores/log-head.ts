import type { EventStore } from '../../shared/event-store/event-store.ts';

/** End of the log: callers at about the same time share one read. */
export type LogHead = {
  /** A position that the log has reached: at least `wanted` if the log has reached that. */
  reaches(wanted: bigint): Promise<bigint>;
  /** The end of the log, by a read that begins after this was asked. */
  next(): Promise<bigint>;
};

/** Reads the end of the log at most once per `everyMs`. A caller gets a read that began after its call. */
export function createLogHead(log: Pick<EventStore, 'lastPosition'>, everyMs = 100): LogHead {
  let known = 0n;
  let lastRead = Number.NEGATIVE_INFINITY;
  let next: Promise<bigint> | undefined;

  async function read(): Promise<bigint> {
    const wait = lastRead + everyMs - performance.now();
    await (wait > 0 ? new Promise((resolve) => setTimeout(resolve, wait)) : undefined);
    // Later callers need the next read: this one may miss newer events.
    next = undefined;
    lastRead = performance.now();
    const found = await log.lastPosition();
    if (found > known) known = found;
    return known;
  }

  function ask(): Promise<bigint> {
    next ??= read();
    return next;
  }

  return {
    async reaches(wanted) {
      if (wanted <= known) return known;
      return ask();
    },
    next: ask,
  };
}
