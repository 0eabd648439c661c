import type { EventStore } from '../../shared/event-store/event-store.ts';
import { AS_OF } from '../query/root-parameters.ts';
import { parseAsOf, refusedAsOf } from './as-of.ts';
import type { LogTimes, TimedEvent } from './log-times.ts';

/**
 * A state of the log: all events up to a position. `at`: time of the last of them; absent if there is none. `until`: also the releases that are
 * due at this instant to come (ms since 1970), and perhaps later events.
 */
export type LogMoment = {
  readonly position: bigint;
  readonly at?: Date | undefined;
  readonly until?: number | undefined;
};

/** Finds what a preview of an instant to come shows. */
export type FindPreview = (until: number) => Promise<LogMoment>;

export type Moments = {
  /**
   * Finds the moment that the texts of `asOf` name. Rejects with RequestError (400) if there is none. An instant to come is a moment for
   * callers who may see drafts.
   */
  find(given: readonly string[], mayReadDrafts: boolean): Promise<LogMoment>;
  /**
   * Finds the moment that was the present at an instant (ms since 1970): before the first event that of the first one, in the future or without
   * an instant that of now. Rejects with RequestError (400) if the log is empty.
   */
  nearest(at: number | undefined): Promise<LogMoment>;
};

/** Creates the search of moments. An instant is the last event whose time is not later. `preview` absent: there is no moment to come. */
export function createMoments(
  log: Pick<EventStore, 'lastPosition'>,
  times: LogTimes,
  now: () => number,
  preview?: FindPreview,
): Moments {
  return {
    async find(given, mayReadDrafts) {
      const asked = parseAsOf(given);
      const found = given.join('&').slice(AS_OF.length + 1);
      const end = await log.lastPosition();
      if (asked.kind === 'position') {
        if (asked.position < 1n || asked.position > end)
          throw refusedAsOf(
            found,
            `The log has no position ${asked.position}`,
            `a position from 1 to ${end}`,
          );
        return momentAt(asked.position, await times.before(asked.position));
      }
      const isToCome = asked.at > now();
      if (isToCome && mayReadDrafts && preview !== undefined) return preview(asked.at);
      if (isToCome)
        throw refusedAsOf(
          found,
          'asOf is in the future',
          `an instant that has passed, or a position up to ${end}`,
        );
      const last = await times.upTo(asked.at);
      if (last !== undefined) return momentAt(last.position, last);
      const first = await times.first();
      const accepted =
        first === undefined
          ? 'nothing: the log is empty'
          : `an instant from ${new Date(first.at).toISOString()} on`;
      throw refusedAsOf(found, 'The log has no event of that time or before', accepted);
    },
    async nearest(at) {
      const end = await log.lastPosition();
      if (at === undefined || at >= now()) return momentAt(end, await times.before(end));
      const last = (await times.upTo(at)) ?? (await times.first());
      if (last === undefined) throw refusedAsOf('now', 'The log is empty', 'nothing');
      return momentAt(last.position, last);
    },
  };
}

function momentAt(position: bigint, last: TimedEvent | undefined): LogMoment {
  return { position, at: last && new Date(last.at) };
}
