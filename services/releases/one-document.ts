import type { ReleaseAction } from '../../shared/releases/release-events.ts';

/** Reason why a log on an older server refuses a release of several documents. */
export const ONE_DOCUMENT =
  'A release can have only one document here, because the server of the event log is older than KurrentDB 26.1, the first that stores several documents together';

/** Returns whether actions are on more than one document. */
export function hasSeveralDocuments(
  actions: readonly Pick<ReleaseAction, 'contentType' | 'entryDocumentId'>[],
): boolean {
  return new Set(actions.map((each) => `${each.contentType} ${each.entryDocumentId}`)).size > 1;
}
