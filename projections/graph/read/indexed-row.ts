import type { IndexedRow } from '../../../shared/read-index/read-index.ts';
import type { SqlRow } from '../store/graph-database.ts';
import { parsedSource, sourceBytes } from '../store/graph-row.ts';
import type { PublicationFacts, Values } from '../store/present-row.ts';
import { rowKeyIn, type WorldNumber } from '../store/row-keys.ts';
import type { TypeView } from '../store/type-view.ts';
import type { ReaderContext } from './graph-reader.ts';

const LOCALES = 'SELECT id FROM entries WHERE document_id = ? AND type = ? ORDER BY locale';

/** Returns a stored row, as ROW_COLUMNS select it, in the form of the read index. */
export function indexedRow({ presenter }: TypeView, row: SqlRow, publication: PublicationFacts): IndexedRow {
  const components = row[5] === null ? {} : (JSON.parse(row[5] as string) as Values);
  return {
    source: sourceBytes(row),
    fields: presenter.fieldsOfSource(parsedSource(row), publication),
    components: presenter.components(components),
  };
}

/** Reads the entries of a document, in the order of their locales. */
export function entriesOfDocument(
  { db }: Pick<ReaderContext, 'db'>,
  view: TypeView,
  documentId: string,
): readonly number[] {
  return db.all(LOCALES, documentId, view.number).map(([id]) => id as number);
}

/** Reads the keys of a document's rows in a world, in the order of their locales. */
export function rowsOfDocument(
  context: Pick<ReaderContext, 'db' | 'existing'>,
  view: TypeView,
  documentId: string,
  world: WorldNumber,
): readonly number[] {
  return entriesOfDocument(context, view, documentId)
    .map((id) => rowKeyIn(world, view.draftAndPublish, id))
    .filter((row) => context.existing.has(row));
}
