import type { EventStore } from '../../shared/event-store/event-store.ts';

/** The end of the log, for everyone who asks by one read in a while. */
export type LogHead = {
  /** A position that the log has reached: at least `wanted` if the log has reached that by now. */
  reaches(wanted: bigint): Promise<bigint>;
};

/** Reads the end of the log at most once per `everyMs`. Whoever asks gets a read that began after the question. */
export function createLogHead(log: Pick<EventStore, 'lastPosition'>, everyMs = 100): LogHead {
  let known = 0n;
  let lastRead = Number.NEGATIVE_INFINITY;
  let next: Promise<bigint> | undefined;

  async function read(): Promise<bigint> {
    const wait = lastRead + everyMs - performance.now();
    await (wait > 0 ? new Promise((resolve) => setTimeout(resolve, wait)) : undefined);
    // Questions from now on are for the next read: this one may miss what is appended meanwhile.
    next = undefined;
    lastRead = performance.now();
    const found = await log.lastPosition();
    if (found > known) known = found;
    return known;
  }

  return {
    async reaches(wanted) {
      if (wanted <= known) return known;
      next ??= read();
      return next;
    },
  };
}
