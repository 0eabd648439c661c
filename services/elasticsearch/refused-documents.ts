import { documentName, type ParkedDocuments } from '../../projections/graph/stale/stale-documents.ts';

/** Documents that Elasticsearch has refused. Once one is accepted, it shows changes whose tags were purged long before. */
export type RefusedDocuments = {
  /** Elasticsearch has refused a document. */
  refused(): void;
  /** Documents were written: some of them may have been refused before. */
  written(): void;
};

/** `accepted` is called when a document is no longer refused. It may still have to be written. */
export function watchRefused(parked: Pick<ParkedDocuments, 'all'>, accepted: () => void): RefusedDocuments {
  const namesNow = () => new Set(parked.all().map(documentName));
  let known = namesNow();
  return {
    refused() {
      known = new Set([...known, ...namesNow()]);
    },
    written() {
      if (known.size === 0) return;
      const now = namesNow();
      const isAccepted = [...known].some((name) => !now.has(name));
      known = now;
      if (isAccepted) accepted();
    },
  };
}
