import type { DocumentIndex, WriteOutcome } from '../../shared/read-index/document-index.ts';
import type { WrittenIndices } from '../read-side/outside-indices.ts';

const WRITTEN: WriteOutcome = Object.freeze({ kind: 'written' });

/** Writes some of the indices of a set. Another generation writes the others: their documents count as written. */
export function writeOnly(index: DocumentIndex, writes: WrittenIndices): DocumentIndex {
  return {
    ...index,
    accepts: async (target, signal) => !writes(target.type, target.world) || index.accepts(target, signal),
    async write(documents, options) {
      const own = documents.filter(({ type, world }) => writes(type, world));
      const outcomes = own.length === 0 ? [] : [...(await index.write(own, options))];
      return documents.map(({ type, world }) =>
        writes(type, world) ? (outcomes.shift() as WriteOutcome) : WRITTEN,
      );
    },
  };
}
