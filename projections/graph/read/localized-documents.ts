import { valueAt } from '../../../shared/map-values.ts';
import type { LinkChange } from '../../../shared/read-index/read-index.ts';
import { localizationChange } from '../store/change-log.ts';
import { DRAFT, PUBLISHED, rowKey, rowKeyIn } from '../store/row-keys.ts';
import type { TypeView } from '../store/type-view.ts';
import type { ReaderContext } from './graph-reader.ts';

/** State of the documents of localized types, whose rows show data of the document's other locales. */
export type Localized = {
  readonly entries: Map<number, LocalizedEntry>;
  /** Localized documents by type and document id. */
  readonly documents: Map<string, LocalizedDocument>;
};
type LocalizedEntry = {
  readonly sharedEdited: number;
  readonly sharedPublished: number;
  readonly document: LocalizedDocument;
};
type LocalizedDocument = {
  readonly view: TypeView;
  readonly entries: { readonly id: number; readonly locale: string }[];
  isPublished: boolean;
};

/** The order is by id, because for another order SQLite would sort all rows before it returns the first one. */
const ENTRIES = `SELECT id, type, document_id, locale, shared_edited, shared_published FROM entries
  WHERE id >= ? AND id < ? AND type IN (SELECT value FROM json_each(?))`;

/** Fills `localized` page by page, and yields after each page. */
export function* readLocalizedDocuments(
  { db, schema, existing }: ReaderContext,
  { entries, documents }: Localized,
  pageSize: number,
): Iterable<void> {
  const types = [...schema.registry.contentTypes.values()].filter(({ localized }) => localized);
  const numbers = JSON.stringify(types.map(({ uid }) => schema.type(uid).number));
  const [last] = db.get('SELECT max(id) FROM entries') ?? [null];
  if (types.length === 0 || last === null) return;
  for (let from = 0; from <= (last as number); from += pageSize) {
    for (const row of db.all(ENTRIES, from, from + pageSize, numbers)) {
      const [id, type, documentId, locale, sharedEdited, sharedPublished] = row as EntryRow;
      const document = valueAt(documents, `${type} ${documentId}`, () => ({
        view: schema.typeOfNumber(type),
        entries: [],
        isPublished: false,
      }));
      document.entries.push({ id, locale });
      if (existing.has(rowKey(id, PUBLISHED))) document.isPublished = true;
      entries.set(id, { sharedEdited, sharedPublished, document });
    }
    yield;
  }
}

type EntryRow = readonly [number, number, string, string, number, number];

/** Yields links from each row of a document to those in its other locales, in batches of about `batchSize`. */
export function* localizationLinks(
  context: ReaderContext,
  { documents }: Localized,
  batchSize: number,
): Iterable<readonly LinkChange[]> {
  let batch: LinkChange[] = [];
  for (const document of documents.values()) {
    batch.push(...linksOfDocument(context, document));
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function* linksOfDocument(
  { existing }: ReaderContext,
  { view, entries }: LocalizedDocument,
): Iterable<LinkChange> {
  entries.sort((a, b) => (a.locale < b.locale ? -1 : 1));
  for (const world of [DRAFT, PUBLISHED] as const) {
    const rows = entries
      .map(({ id }) => rowKeyIn(world, view.draftAndPublish, id))
      .filter((row) => existing.has(row));
    for (const source of rows) {
      for (const [rank, target] of rows.entries()) {
        if (source !== target) yield localizationChange(view.uid, world, { source, target }, rank);
      }
    }
  }
}
