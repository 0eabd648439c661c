import type { ChangeLog } from './change-log.ts';
import { ENTRY_COLUMNS, type Names } from './entry-names.ts';
import type { GraphDatabase } from './graph-database.ts';
import {
  byLocale,
  createGraphEntry,
  factsOf,
  type GraphEntry,
  hasRows,
  publicationState,
} from './graph-entry.ts';
import { changedColumns, type GraphRow, rowsOfEntry, writeRow, writeUniqueValues } from './graph-row.ts';
import { createLocalizations } from './localizations.ts';
import type { PublicationFacts } from './present-row.ts';
import { createPublishedDocuments } from './published-documents.ts';
import { type ExistingRows, type VersionNumber, versionOfKey } from './row-keys.ts';
import type { TypeView } from './type-view.ts';

/** The entries that a batch changes. Each is read and written once, however many events concern it. */
export type GraphSession = {
  /** Returns the entry that an event concerns. `revision`: the revision of the event. */
  entry(view: TypeView, documentId: string, locale: string | null, revision: number): GraphEntry;
  /** The document's other locales that have rows. */
  siblings(entry: GraphEntry): readonly GraphEntry[];
  /** All entries of a type that have rows. */
  entriesOfType(view: TypeView): readonly GraphEntry[];
  /** Returns an entry whose rows were written elsewhere; undefined if it has no rows. Sends all of its rows to the read index. */
  shown(view: TypeView, id: number): GraphEntry | undefined;
  /** Returns an entry by its number, whether or not it has rows. */
  entryOfNumber(view: TypeView, id: number): GraphEntry;
  addRow(entry: GraphEntry, version: VersionNumber, row: GraphRow): void;
  removeRow(entry: GraphEntry, version: VersionNumber): void;
  /** Marks a row whose values or facts changed. */
  touch(entry: GraphEntry, version: VersionNumber): void;
  flush(): void;
};

const ENTRY_BY_ID = `SELECT ${ENTRY_COLUMNS} FROM entries WHERE id = ?`;
const ENTRIES_OF_DOCUMENT = `SELECT ${ENTRY_COLUMNS} FROM entries WHERE document_id = ? AND type = ? ORDER BY locale`;
const ENTRIES_OF_TYPE = `SELECT ${ENTRY_COLUMNS} FROM entries WHERE type = ? ORDER BY id`;

/** A stored row: its response JSON, and the columns that changed; undefined: any of them. */
type WrittenRow = { readonly source: string; readonly changed: ReadonlySet<string> | undefined };

const NO_COLUMNS: ReadonlySet<string> = new Set();

/** Creates the session of a graph. It reads entries when they are first asked for, and keeps what it has read until `flush`. */
export function openGraphSession(
  db: GraphDatabase,
  names: Names,
  existing: ExistingRows,
  changes: ChangeLog,
): GraphSession {
  const entries = new Map<number, GraphEntry>();
  /** Entries whose rows the read index gets completely. */
  const shown = new Set<GraphEntry>();

  const read = (view: TypeView, row: readonly unknown[]): GraphEntry => {
    const id = row[0] as number;
    const known = entries.get(id);
    if (known !== undefined) return known;
    const rows = hasRows(existing, id) ? rowsOfEntry(db, view, id) : [];
    const entry = createGraphEntry(view, row, rows);
    remember(entry);
    return entry;
  };
  const remember = (entry: GraphEntry): void => {
    entries.set(entry.id, entry);
    published.note(entry);
  };
  const entriesOf = ({ view, documentId }: GraphEntry): GraphEntry[] =>
    db
      .all(ENTRIES_OF_DOCUMENT, documentId, view.number)
      .concat(names.freshEntriesOf(view.number, documentId))
      .map((row) => read(view, row))
      .sort(byLocale);
  const published = createPublishedDocuments(db, names, existing);
  const localizations = createLocalizations(existing, changes, entriesOf);

  /** Writes changed rows, and reports them and rows with changed publication facts to the index. */
  const presentEntry = (entry: GraphEntry): void => {
    const documentPublished = published.isPublished(entry);
    const publication = { state: publicationState(entry), documentPublished };
    const isRestated =
      shown.has(entry) ||
      publication.state !== entry.stateBefore ||
      published.isChanged(entry, documentPublished);
    for (const row of entry.rows) {
      if (row === undefined) continue;
      const written = entry.changed[versionOfKey(row.key)] ? store(entry, row) : undefined;
      if (changes.isListening && (written !== undefined || isRestated))
        tell(entry, row, publication, written);
    }
  };
  const store = (entry: GraphEntry, row: GraphRow): WrittenRow => {
    const facts = factsOf(entry, row);
    const changed = changes.isComparing && !entry.isNew ? changedColumns(db, facts, row) : undefined;
    row.uniqueValues = writeUniqueValues(db, entry, row.uniqueValues, row);
    return { source: writeRow(db, entry.view, facts, row), changed };
  };
  const tell = (
    entry: GraphEntry,
    row: GraphRow,
    publication: PublicationFacts,
    written: WrittenRow | undefined,
  ): void => {
    const { presenter, uid } = entry.view;
    const facts = factsOf(entry, row);
    const indexed = {
      source: Buffer.from(presenter.shown(written?.source ?? presenter.source(facts, row.values))),
      fields: presenter.fields(facts, row.values, publication),
      components: presenter.components(row.values),
    };
    const changed = written === undefined && !shown.has(entry) ? NO_COLUMNS : written?.changed;
    changes.row({ type: uid, key: row.key, row: indexed }, changed);
  };

  return {
    entry(view, documentId, locale, revision) {
      const created = names.create(view.number, documentId, locale, revision);
      if (created !== undefined) {
        const entry = createGraphEntry(view, [created, documentId, locale ?? '', revision, 0, 0, '', 0], []);
        entry.isNew = true;
        remember(entry);
        return entry;
      }
      const id = names.entry(view.number, documentId, locale);
      const entry = entries.get(id) ?? read(view, names.freshEntry(id) ?? db.get(ENTRY_BY_ID, id) ?? []);
      entry.revision = revision;
      entry.isNoted = true;
      return entry;
    },
    siblings: (entry) =>
      entry.view.localized
        ? entriesOf(entry).filter((other) => other !== entry && other.rows.some(Boolean))
        : [],
    entriesOfType: (view) =>
      db
        .all(ENTRIES_OF_TYPE, view.number)
        .filter(([id]) => hasRows(existing, id as number))
        .map((row) => read(view, row)),
    shown(view, id) {
      if (!hasRows(existing, id)) return undefined;
      const entry = read(view, db.get(ENTRY_BY_ID, id) ?? []);
      shown.add(entry);
      for (const row of entry.rows) if (row !== undefined) localizations.note(entry, versionOfKey(row.key));
      return entry;
    },
    entryOfNumber: (view, id) => read(view, names.freshEntry(id) ?? db.get(ENTRY_BY_ID, id) ?? []),
    addRow(entry, version, row) {
      entry.rows[version] = row;
      entry.changed[version] = true;
      existing.add(row.key, entry.view.number);
      localizations.note(entry, version);
    },
    removeRow(entry, version) {
      const row = entry.rows[version];
      if (row === undefined) return;
      writeUniqueValues(db, entry, row.uniqueValues, undefined);
      db.run('DELETE FROM rows WHERE key = ?', row.key);
      changes.row({ type: entry.view.uid, key: row.key, row: null });
      entry.rows[version] = undefined;
      entry.changed[version] = false;
      existing.delete(row.key, entry.view.number);
      localizations.note(entry, version);
    },
    touch(entry, version) {
      entry.changed[version] = true;
    },
    flush() {
      // Every row shows whether its document is published, so the rows of the other locales change too.
      for (const entry of published.changed()) entriesOf(entry);
      for (const entry of entries.values()) {
        presentEntry(entry);
        if (entry.isNoted) names.note(entry);
      }
      localizations.report();
    },
  };
}
