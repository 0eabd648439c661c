import type { ParkedDocument } from '../graph/stale/parked-rows.ts';
import type { StaleDocuments } from '../graph/stale/stale-documents.ts';

/** An event that the writer's process logs. */
export type WriterReport =
  | { readonly kind: 'stuck'; readonly reason: string }
  | { readonly kind: 'recovered' }
  | { readonly kind: 'refused'; readonly documents: readonly ParkedDocument[] };

/** State of the documents that a writer must write. */
export type WriterStatus = {
  /** Documents whose current state searches do not show: they must be written, or their refresh is still to come. */
  readonly backlog: number;
  /** Seconds since the oldest of them was marked; 0 when caught up. */
  readonly oldestSeconds: number;
  readonly refused: number;
  /** Number of documents written since the start. */
  readonly written: number;
};

/** Returns the state of the documents, as operators see it. `written`: documents that this process has written. */
export function writerStatus(stale: StaleDocuments, written: number): WriterStatus {
  const { rows, oldest } = stale.count();
  return {
    backlog: rows + stale.unseen(),
    oldestSeconds: oldest === undefined ? 0 : Math.max(0, (Date.now() - oldest) / 1000),
    refused: stale.parked.list().length,
    written,
  };
}
