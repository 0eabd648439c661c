import type { StaleDocuments } from '../graph/stale/stale-documents.ts';
import { older, type Refreshes } from './refreshes.ts';

/** Documents that must be written, and documents that are written and must be refreshed. */
type WrittenDocuments = {
  readonly stale: Pick<StaleDocuments, 'oldest'>;
  readonly refreshes: Pick<Refreshes, 'oldest'>;
};

/** Returns the position of the oldest change that searches do not see in some document. */
export function oldestUnseen({ stale, refreshes }: WrittenDocuments): bigint | undefined {
  return older(oldestStale(stale), refreshes.oldest());
}

/** Returns the position of the oldest change that is not written to some document for which a write may wait. */
export function oldestAwaited(stale: WrittenDocuments['stale']): bigint | undefined {
  return older(stale.oldest('edits'), stale.oldest('copies'));
}

function oldestStale(stale: WrittenDocuments['stale']): bigint | undefined {
  return older(oldestAwaited(stale), stale.oldest('backlog'));
}

/** Returns whether some unwritten document has a change as old as those that a refresh would make visible. */
export function isDelayed({ stale, refreshes }: WrittenDocuments): boolean {
  const [toWrite, toSee] = [oldestStale(stale), refreshes.oldest()];
  return toWrite !== undefined && toSee !== undefined && toWrite <= toSee;
}

/** Returns the position up to which searches see every change. */
export function shownPosition(documents: WrittenDocuments, position: bigint): bigint {
  const unseen = oldestUnseen(documents);
  if (unseen === undefined || unseen > position) return position;
  return unseen > 0n ? unseen - 1n : 0n;
}
