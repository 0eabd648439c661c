import type { AppliedEvent } from '../../projections/graph/store/log-checkpoint.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { rawEvents } from '../../shared/event-store/raw-events.ts';

/** Events of a log, by their time and position. Times of a log need not ascend: the result is one of several then. */
export type LogTimes = {
  /** Returns the last event up to an instant (ms since 1970); undefined if there is none. */
  upTo(instant: number): Promise<TimedEvent | undefined>;
  /** Returns the last event up to a position; undefined if there is none. */
  before(position: bigint): Promise<TimedEvent | undefined>;
  /** Returns the first event; undefined if there is none. */
  first(): Promise<TimedEvent | undefined>;
};

export type TimedEvent = { readonly position: bigint; readonly at: number };

type TimedLog = Pick<EventStore, 'readAll' | 'readStream' | 'lastPosition' | 'chain'>;

/**
 * Finds events by their time. `samples`: returns some events of the log, for a log that reads only from positions where an event begins
 * (KurrentDB). Other logs are bisected, in some 20 reads for a million events.
 */
export function createLogTimes(log: TimedLog, samples: () => readonly AppliedEvent[]): LogTimes {
  return log.chain === undefined ? scanFromMarks(log, samples) : bisect(log);
}

function timed({ position, metadata }: StoredEvent): TimedEvent {
  return { position, at: Date.parse(metadata.at) };
}

const LOOK_BATCH = 64;

function bisect(log: TimedLog): LogTimes {
  return {
    async upTo(instant) {
      let low: TimedEvent | undefined;
      let from = 0n;
      let high = await log.lastPosition();
      while (from < high) {
        const middle = (from + high) / 2n;
        const next = await firstAfter(log, middle);
        if (next !== undefined && next.at <= instant) {
          low = next;
          from = next.position;
        } else high = middle;
      }
      return low;
    },
    first: () => firstAfter(log, 0n),
    // Events of other namespaces may be at the positions before.
    async before(position) {
      for (let back = 1n; ; back *= 8n) {
        const after = back > position ? 0n : position - back;
        let last: StoredEvent | undefined;
        for await (const event of rawEvents(log, after, { until: position, batchSize: LOOK_BATCH }))
          last = event;
        if (last !== undefined) return timed(last);
        if (after === 0n) return undefined;
      }
    },
  };
}

async function firstAfter(log: TimedLog, position: bigint): Promise<TimedEvent | undefined> {
  for await (const event of rawEvents(log, position, { batchSize: 1 })) return timed(event);
  return undefined;
}

/** Events between two marks. */
const MARK_EVERY = 1_000;

/** Searches event by event after the nearest mark, and makes marks on its way: only the first search of a part of the log takes long. */
function scanFromMarks(log: TimedLog, samples: () => readonly AppliedEvent[]): LogTimes {
  let marks: Promise<TimedEvent[]> | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  const search = async (isWanted: (event: TimedEvent) => boolean): Promise<TimedEvent | undefined> => {
    marks ??= readMarks(log, samples());
    const known = await marks;
    const at = known.findLastIndex(isWanted);
    const next = known[at + 1];
    let last = known[at];
    let since = 0;
    const made: TimedEvent[] = [];
    for await (const event of rawEvents(log, last?.position ?? 0n)) {
      const found = timed(event);
      if (!isWanted(found) || found.position === next?.position) break;
      last = found;
      if (++since % MARK_EVERY === 0) made.push(found);
    }
    known.splice(at + 1, 0, ...made);
    return last;
  };
  // One after the other: each uses the marks of those before.
  const inTurn = (isWanted: (event: TimedEvent) => boolean) => {
    const searched = turn.then(() => search(isWanted));
    turn = searched.catch(() => {});
    return searched;
  };
  return {
    upTo: (instant) => inTurn(({ at }) => at <= instant),
    first: () => firstAfter(log, 0n),
    before: (wanted) => inTurn(({ position }) => position <= wanted),
  };
}

/** Returns the samples that the log has, in its order. */
async function readMarks(log: TimedLog, samples: readonly AppliedEvent[]): Promise<TimedEvent[]> {
  const marks: TimedEvent[] = [];
  for (const { stream, revision, id } of samples)
    for await (const event of log.readStream(stream, revision)) {
      if (event.id === id) marks.push(timed(event));
      break;
    }
  return marks.sort((a, b) => (a.position < b.position ? -1 : 1));
}
