import type { EventStore } from '../../shared/event-store/event-store.ts';
import { identityOfLog } from '../fleet/log-identity.ts';

/**
 * Returns the name of the log's history up to the event at a position. A copy of the log's files has the identity of the original, and an
 * older copy that was restored too. But from the first event that is only in one of them, their histories have other names.
 */
export type HistoryName = (position: bigint) => Promise<string>;

/** Creates names of histories. `shown` returns a position that the log has reached. The identity is read again only for later positions. */
export function createHistoryName(log: EventStore, space: string, shown: () => bigint): HistoryName {
  let known: { readonly until: bigint; readonly log: string } | undefined;
  return async (position) => {
    if (known === undefined || position > known.until) {
      const until = shown();
      known = { until, log: (await identityOfLog(log, space)) ?? '' };
    }
    return `${known.log} ${(await log.historyAt(position)) ?? ''}`;
  };
}
