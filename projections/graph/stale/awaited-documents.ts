import { type ChangeSpan, type DocumentKey, staleNumber } from './stale-rows.ts';

/** Documents that writes wait for, by the batch of changes that made them stale. */
export type AwaitedDocuments = ReturnType<typeof createAwaitedDocuments>;

/** Maximum batches. Writes wait for some seconds only, so there are more of them only while an index accepts no documents. */
const MOST_BATCHES = 5_000;

type Batch = { readonly since: number; readonly documents: Set<number> };

/**
 * Creates the record of documents that writes wait for. A mark only has the first and the last change that a document lacks, so other
 * writes between them would wait too. The record is in memory, because only this process's own writes wait. `begun`: position of the graph
 * from which it is complete.
 */
export function createAwaitedDocuments(begun: number) {
  let completeAfter = begun;
  /** Batches with documents that searches do not show yet, by their last position, in order. */
  const batches = new Map<number, Batch>();
  let current: Batch = { since: 0, documents: new Set() };
  return {
    /** Begins a batch of changes. */
    begin({ since }: ChangeSpan): void {
      current = { since, documents: new Set() };
    },
    /** Records that writes of the current batch wait for a document, named by `staleNumber`. */
    mark(number: number, { position }: ChangeSpan): void {
      current.documents.add(number);
      if (current.documents.size > 1) return;
      batches.set(position, current);
      const [oldest] = batches.keys();
      if (batches.size <= MOST_BATCHES || oldest === undefined) return;
      batches.delete(oldest);
      completeAfter = oldest;
    },
    /** Records that the documents show all changes up to a position, or cannot be written. */
    settled(documents: readonly DocumentKey[], position: number): void {
      const numbers = documents.map(staleNumber);
      for (const [last, { documents: open }] of batches) {
        if (last > position) return;
        for (const number of numbers) open.delete(number);
        if (open.size === 0) batches.delete(last);
      }
    },
    /** Records that all documents show all changes up to a position. */
    forget(position: number): void {
      for (const last of batches.keys()) if (last <= position) batches.delete(last);
    },
    /** Returns whether a write at this position waits for some document; undefined for a position that the record does not cover. */
    isAwaited(position: number): boolean | undefined {
      if (position <= completeAfter) return undefined;
      for (const [last, { since }] of batches) if (last >= position) return since <= position;
      return false;
    },
  };
}
