import type { EventStore } from '../../shared/event-store/event-store.ts';

/** Reads the end of the log at most once per `everyMs`. Callers share a read that begins after their calls. */
export function createLogHead(log: Pick<EventStore, 'lastPosition'>, everyMs = 100) {
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
    /** Returns a position that the log has reached: at least `wanted` if the log has reached it. */
    async reaches(wanted: bigint): Promise<bigint> {
      if (wanted <= known) return known;
      return ask();
    },
    /** Returns the end of the log, from a read that begins after the call. */
    next: ask,
  };
}
