import type { EventStore } from '../../shared/event-store/event-store.ts';
import { type ClaimAt, createClaims } from '../fleet/epochs.ts';
import { identityOfLog } from '../fleet/log-identity.ts';

/**
 * Returns the name of the log's history up to a position. A copy of the log's files has the identity of the original. But each of the two
 * logs has its own claims from then on, so positions after its first own claim have other names.
 */
export type HistoryName = (position: bigint) => Promise<string>;

type Known = { readonly until: bigint; readonly log: string; readonly claimAt: ClaimAt };

/** Creates names of histories. `shown` returns a position that the log has reached. The log is read again only for later positions. */
export function createHistoryName(log: EventStore, space: string, shown: () => bigint): HistoryName {
  const readClaims = createClaims(log, space);
  let known: Known | undefined;
  return async (position) => {
    if (known === undefined || position > known.until) {
      const until = shown();
      known = { until, log: (await identityOfLog(log, space)) ?? '', claimAt: await readClaims() };
    }
    return `${known.log} ${known.claimAt(position + 1n)?.id ?? ''}`;
  };
}
