import type { EventStore } from '../../shared/event-store/event-store.ts';

/** How far what is shown is behind what is stored. */
export type ProjectionLag = {
  /** Counted up to COUNT_LIMIT. */
  readonly events: number;
  /** Age of the oldest event that is not shown, by the clocks of its writer and of this process. */
  readonly seconds: number;
};

const LEVEL: ProjectionLag = Object.freeze({ events: 0, seconds: 0 });
const COUNT_LIMIT = 5_000;

/** `applied` is read first: an event that arrives meanwhile is behind it, however late the log is asked. */
export async function measureLag(
  log: EventStore,
  applied: bigint,
  now: () => number,
): Promise<ProjectionLag> {
  if ((await log.lastPosition()) <= applied) return LEVEL;
  let events = 0;
  let oldest: number | undefined;
  for await (const batch of log.readAll(applied, { batchSize: 500 })) {
    events += batch.length;
    const [first] = batch;
    if (oldest === undefined && first !== undefined) oldest = Date.parse(first.metadata.at);
    if (events >= COUNT_LIMIT) break;
  }
  if (oldest === undefined) return LEVEL;
  return { events: Math.min(events, COUNT_LIMIT), seconds: Math.max(0, now() - oldest) / 1000 };
}

/** How old the oldest event is that is not shown: one event is read at most, so a probe may ask often. */
export async function lagSeconds(log: EventStore, applied: bigint, now: () => number): Promise<number> {
  if ((await log.lastPosition()) <= applied) return 0;
  for await (const [first] of log.readAll(applied, { batchSize: 1 })) {
    if (first !== undefined) return Math.max(0, now() - Date.parse(first.metadata.at)) / 1000;
  }
  return 0;
}
