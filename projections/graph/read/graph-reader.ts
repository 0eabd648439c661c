import type { ContentGraphReader, Entry, UniqueText } from '../../../shared/document/entry.ts';
import type { Uid } from '../../../shared/schema/content-type.ts';
import { changingOperations } from '../apply/changing-operations.ts';
import { entryValues } from '../apply/entry-values.ts';
import type { GraphContext } from '../apply/graph-context.ts';
import { hasRows } from '../store/graph-entry.ts';
import { rowsOfEntry } from '../store/graph-row.ts';
import { linkedEntries } from '../store/linked-entries.ts';
import { DRAFT, entryOfKey, rowKey, VERSIONS, versionOfKey } from '../store/row-keys.ts';
import type { TypeView } from '../store/type-view.ts';
import { type EntryName, entriesOfDocument } from './document-rows.ts';

export type ReaderContext = Pick<GraphContext, 'db' | 'names' | 'existing' | 'links' | 'schema' | 'pending'>;

/** Creates the reader of the write side. It asks for `context` at each read, because content types may have changed. */
export function createGraphReader(
  context: () => ReaderContext,
  { position, command }: Pick<ContentGraphReader, 'position' | 'command'>,
): ContentGraphReader {
  return {
    position,
    command,
    streamRevision: (type, documentId) => streamRevision(context(), type, documentId),
    entries(type, documentId) {
      const reader = context();
      const view = reader.schema.findType(type);
      if (view === undefined) return [];
      return entriesOfDocument(reader, view, documentId).flatMap((name) => readEntries(reader, view, name));
    },
    documentOfId(type, id) {
      const { db, names, existing, schema } = context();
      const [found] =
        db.get('SELECT key FROM ids WHERE type = ? AND id = ?', schema.type(type).number, id) ?? [];
      const key = found as number | undefined;
      return key === undefined || !existing.has(key) ? undefined : names.target(entryOfKey(key));
    },
    exists(type, documentId, locale) {
      const reader = context();
      return entriesOfDocument(reader, reader.schema.type(type), documentId).some(
        (entry) => (locale === undefined || entry.locale === locale) && hasRows(reader.existing, entry.id),
      );
    },
    documentWithUnique: (...of) => documentWithUnique(context(), ...of),
    linkedTargets(type, documentId, locale, attribute) {
      const { links, names, schema } = context();
      const view = schema.type(type);
      const entry = names.find(view.number, documentId, locale);
      if (entry === undefined) return [];
      return linkedEntries(links, view.relation(attribute), entry, DRAFT).map(names.target);
    },
    changingOperations(type, documentId, locale, operations) {
      if (operations.length === 0) return operations;
      const reader = context();
      const view = reader.schema.type(type);
      const edited = entriesOfDocument(reader, view, documentId).filter(({ id }) =>
        reader.existing.has(rowKey(id, view.edited)),
      );
      const entry = edited.find((each) => each.locale === locale);
      if (entry === undefined) return operations;
      const siblings = edited.filter((each) => each !== entry);
      return changingOperations(reader, view, { entry, siblings }, operations);
    },
  };
}

const LAST_REVISION = 'SELECT max(revision) FROM entries WHERE document_id = ? AND type = ?';

function streamRevision({ db, schema }: ReaderContext, type: Uid, documentId: string): bigint | undefined {
  const view = schema.findType(type);
  const revision = view && db.get(LAST_REVISION, documentId, view.number)?.[0];
  return revision === null || revision === undefined ? undefined : BigInt(revision as number);
}

function readEntries(context: ReaderContext, view: TypeView, name: EntryName): readonly Entry[] {
  const { id: entry, documentId, locale } = name;
  return rowsOfEntry(context.db, view, entry).map((row) => {
    const { key, id, createdAt, updatedAt, publishedAt } = row;
    const version = versionOfKey(key);
    const values = entryValues(context, { id: entry, view }, version, row.values);
    const facts = { key, id, documentId, locale, createdAt, updatedAt, publishedAt };
    return { ...facts, type: view.uid, version: VERSIONS[version], values };
  });
}

const UNIQUE_HOLDER = `SELECT e.document_id FROM unique_values u JOIN entries e ON e.id = u.entry
  WHERE u.attribute = ? AND u.value = ? AND e.locale = ? AND e.document_id <> ? LIMIT 1`;

function documentWithUnique(
  { db, schema }: ReaderContext,
  { type, place: name, locale, text }: UniqueText,
  except = '',
): string | undefined {
  const unique = schema.type(type).unique.find(({ place }) => place.name === name);
  if (unique === undefined) throw new Error(`${type}.${name} is not unique`);
  const holder = db.get(UNIQUE_HOLDER, unique.number, text, locale ?? '', except);
  return holder === undefined ? undefined : String(holder[0]);
}
