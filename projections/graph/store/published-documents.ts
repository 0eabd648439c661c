import type { Names } from './entry-names.ts';
import type { GraphDatabase } from './graph-database.ts';
import { documentKeyOf, type GraphEntry } from './graph-entry.ts';
import { type ExistingRows, PUBLISHED, rowKey } from './row-keys.ts';

type Document = {
  /** Any entry of the document. */
  readonly entry: GraphEntry;
  /** State before the batch. */
  readonly publishedBefore: boolean;
};

const ENTRIES = 'SELECT id FROM entries WHERE document_id = ? AND type = ?';

/** Creates a record of the localized documents of a batch. A document is published if one of its locales is. */
export function createPublishedDocuments(
  db: GraphDatabase,
  names: Pick<Names, 'freshEntriesOf'>,
  existing: ExistingRows,
) {
  const documents = new Map<string, Document>();
  const isPublished = ({ view, documentId, id }: GraphEntry): boolean => {
    if (!view.draftAndPublish) return true;
    if (!view.localized) return existing.has(rowKey(id, PUBLISHED));
    const stored = db.all(ENTRIES, documentId, view.number);
    const ids = stored.concat(names.freshEntriesOf(view.number, documentId));
    return ids.some(([each]) => existing.has(rowKey(each as number, PUBLISHED)));
  };
  return {
    /** Notes the state of an entry's document before the batch. */
    note(entry: GraphEntry): void {
      // For other types a document has only one entry, whose publication state is enough.
      if (!entry.view.localized || documents.has(documentKeyOf(entry))) return;
      documents.set(documentKeyOf(entry), { entry, publishedBefore: isPublished(entry) });
    },
    isPublished,
    /** Returns whether the entry's document was published in the batch, or is no longer. `isNow`: it is published. */
    isChanged(entry: GraphEntry, isNow: boolean): boolean {
      const before = documents.get(documentKeyOf(entry))?.publishedBefore;
      return before !== undefined && before !== isNow;
    },
    /** An entry of each document that was published in the batch, or is no longer. */
    changed(): readonly GraphEntry[] {
      return [...documents.values()]
        .filter(({ entry, publishedBefore }) => isPublished(entry) !== publishedBefore)
        .map(({ entry }) => entry);
    },
  };
}
