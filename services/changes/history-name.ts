import type { EventStore } from '../../shared/event-store/event-store.ts';
import { type ClaimAt, createClaims } from '../fleet/epochs.ts';
import { identityOfLog } from '../fleet/log-identity.ts';

/**
 * Names the history of the log up to a position. A copy that was made by copying files has the identity of its original. But each of both
 * has claims of its own from then on, so positions behind the first one have other names.
 */
export type HistoryName = (position: bigint) => Promise<string>;

type Known = { readonly until: bigint; readonly log: string; readonly claimAt: ClaimAt };

/** Creates names of histories. `shown`: a position that the log has reached; the log is read again only for later positions. */
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
