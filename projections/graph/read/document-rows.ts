import type { GraphDatabase } from '../store/graph-database.ts';
import { type ExistingRows, rowKeyIn, type WorldNumber } from '../store/row-keys.ts';
import type { TypeView } from '../store/type-view.ts';

/** A document in one locale. */
export type EntryName = { readonly id: number; readonly documentId: string; readonly locale: string | null };

const ENTRIES = 'SELECT id, locale FROM entries WHERE document_id = ? AND type = ? ORDER BY locale';

/** Reads the entries of a document, in the order of their locales. */
export function entriesOfDocument(
  { db }: { readonly db: GraphDatabase },
  view: TypeView,
  documentId: string,
): readonly EntryName[] {
  return db.all(ENTRIES, documentId, view.number).map(([id, locale]) => ({
    id: id as number,
    documentId,
    locale: locale === '' ? null : (locale as string),
  }));
}

/** Reads the keys of a document's rows in a world, in the order of their locales. */
export function rowsOfDocument(
  context: { readonly db: GraphDatabase; readonly existing: ExistingRows },
  view: TypeView,
  documentId: string,
  world: WorldNumber,
): readonly number[] {
  return entriesOfDocument(context, view, documentId)
    .map(({ id }) => rowKeyIn(world, view.draftAndPublish, id))
    .filter((row) => context.existing.has(row));
}
