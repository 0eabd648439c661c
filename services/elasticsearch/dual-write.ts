import type {
  DocumentIndex,
  IndexableDocument,
  WriteOutcome,
} from '../../shared/read-index/document-index.ts';

/** Index whose documents are also written to another index for some time. */
export type DualWriteIndex = DocumentIndex & {
  /** Writes documents to `other` too for `forMs`. A document counts as written when it is in both. */
  alsoWrite(other: DocumentIndex, forMs: number): void;
  /**
   * Writes documents to `next` instead from now on. Documents that were made for the previous index count as not written, even if a request
   * with them is in flight.
   */
  retarget(next: DocumentIndex): void;
};

const RETARGETED: WriteOutcome = Object.freeze({ kind: 'again', reason: 'its index is made again' });

/**
 * Writes to two index sets: after an alias switch other processes still read the earlier set for a moment. Both sets show a write before it
 * is acknowledged.
 */
export function createDualWrite(first: DocumentIndex): DualWriteIndex {
  let index = first;
  /** Index for which each document was made. */
  const madeFor = new WeakMap<IndexableDocument, DocumentIndex>();
  const copies = new WeakMap<IndexableDocument, IndexableDocument>();
  let second: { readonly index: DocumentIndex; readonly until: number } | undefined;
  const other = (): DocumentIndex | undefined => {
    if (second !== undefined && performance.now() > second.until) second = undefined;
    return second?.index;
  };
  return {
    alsoWrite(earlier, forMs) {
      second = { index: earlier, until: performance.now() + forMs };
    },
    retarget(next) {
      index = next;
    },
    present(row, neighbours) {
      const document = index.present(row, neighbours);
      madeFor.set(document, index);
      const copy = other()?.present(row, neighbours);
      if (copy !== undefined) copies.set(document, copy);
      return document;
    },
    async write(documents, options) {
      const target = index;
      if (documents.some((document) => madeFor.get(document) !== target))
        return documents.map(() => RETARGETED);
      const also = documents.flatMap((document) => copies.get(document) ?? []);
      const [outcomes, others = []] = await Promise.all([
        target.write(documents, options),
        also.length === 0 ? undefined : other()?.write(also, options),
      ]);
      if (index !== target) return documents.map(() => RETARGETED);
      const failed = new Map(others.map((outcome, at) => [also[at], outcome]));
      return outcomes.map((outcome, at) =>
        worse(outcome, failed.get(copies.get(documents[at] as IndexableDocument))),
      );
    },
    async accepts(target, signal) {
      const answers = await Promise.all([index.accepts(target, signal), other()?.accepts(target, signal)]);
      return answers.every((isAccepted) => isAccepted !== false);
    },
    release(documents) {
      index.release(documents);
      const also = documents.flatMap((document) => copies.get(document) ?? []);
      if (also.length > 0) other()?.release(also);
    },
    async refresh(only) {
      await Promise.all([index.refresh(only), other()?.refresh(only)]);
    },
  };
}

/** Returns the outcome to report for both indices. A refusal by one index does not stop the write to the other. */
function worse(outcome: WriteOutcome, other: WriteOutcome | undefined): WriteOutcome {
  return outcome.kind === 'written' && other?.kind === 'again' ? other : outcome;
}
