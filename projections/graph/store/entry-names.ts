import type { LinkTarget } from '../../../shared/document/events.ts';
import { addToList, valueAt } from '../../../shared/map-values.ts';
import type { GraphDatabase, SqlRow } from './graph-database.ts';
import type { Sequences } from './sequences.ts';

/** Maximum entries of the cache. Each takes about 150 bytes. */
const CACHED_ENTRIES = 200_000;

const FIND_ENTRY = 'SELECT id FROM entries WHERE document_id = ? AND type = ? AND locale = ?';
const INSERT_ENTRY = 'INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)';
const UPDATE_ENTRY = `UPDATE entries SET revision = ?, shared_edited = ?, shared_published = ?, unpublished = ?, equal_at = ?
  WHERE id = ?`;

/** State of an entry besides its name. */
export type EntryNote = {
  readonly id: number;
  readonly revision: number | null;
  readonly sharedEdited: number;
  readonly sharedPublished: number;
  /** Changed names since both versions were equal, see projections/journal. */
  readonly unpublished: string | null;
  /** Position at which both versions were equal; 0: never. */
  readonly equalAt: number;
};

/** An entry that is not in the file yet. */
type FreshEntry = EntryNote & {
  readonly type: number;
  readonly documentId: string;
  /** '' = null. */
  readonly locale: string;
};

/** Numbers of content types, attributes and entries. */
export type Names = {
  /** Returns the number of a content type or attribute. The first call for a name allots one. */
  number(name: string): number;
  /** Returns the number of an entry; undefined if no event has mentioned it. */
  find(type: number, documentId: string, locale: string | null): number | undefined;
  /** Numbers an entry that no event before the current one has mentioned; undefined if one has. */
  create(
    type: number,
    documentId: string,
    locale: string | null,
    revision: number | null,
  ): number | undefined;
  /** Returns the number of an entry. The first call for an entry allots one. */
  entry(type: number, documentId: string, locale: string | null): number;
  note(entry: EntryNote): void;
  /** True until the end of the batch that first mentioned the entry: the file has nothing about it. */
  isFresh(entry: number): boolean;
  /** The same columns as ENTRY_COLUMNS, of an entry that is fresh. */
  freshEntry(entry: number): SqlRow | undefined;
  /** New entries of a document. */
  freshEntriesOf(type: number, documentId: string): readonly SqlRow[];
  /** Forgets cached entries, because their locales were changed. */
  forget(): void;
  /** Document and locale of an entry's number. */
  target(entry: number): LinkTarget;
  /** Writes new entries. Must run in the transaction of the events. */
  flush(): void;
};

/** Columns of the table of entries that are read as a whole. */
export const ENTRY_COLUMNS =
  'id, document_id, locale, revision, shared_edited, shared_published, unpublished, equal_at';

/** Reads the names of types and relations from the graph's file; entries are read when they are first asked for. */
export function openNames(db: GraphDatabase, sequences: Sequences): Names {
  const numbers = new Map<string, number>();
  for (const [id, name] of db.all('SELECT id, name FROM names')) numbers.set(String(name), Number(id));
  const known = createKnownEntries();
  let isComplete = db.get('SELECT 1 FROM entries LIMIT 1') === undefined;
  const fresh = openFreshEntries(db);
  const forget = (): void => {
    known.clear();
    isComplete = false;
  };
  const findIn = (documents: Map<string, number>, type: number, documentId: string, locale: string) => {
    const found = documents.get(documentId);
    if (found !== undefined || isComplete) return found;
    const row = db.get(FIND_ENTRY, documentId, type, locale);
    if (row === undefined) return undefined;
    documents.set(documentId, Number(row[0]));
    known.added();
    return Number(row[0]);
  };
  const add = (
    documents: Map<string, number>,
    name: Pick<FreshEntry, 'type' | 'documentId' | 'locale' | 'revision'>,
  ): number => {
    const id = sequences.next('entry');
    documents.set(name.documentId, id);
    known.added();
    fresh.add({ id, sharedEdited: 0, sharedPublished: 0, unpublished: '', equalAt: 0, ...name });
    return id;
  };
  return {
    number: (name) =>
      valueAt(numbers, name, () => {
        const id = numbers.size + 1;
        db.run('INSERT INTO names (id, name) VALUES (?, ?)', id, name);
        return id;
      }),
    find: (type, documentId, locale) =>
      findIn(known.documents(type, locale ?? ''), type, documentId, locale ?? ''),
    create(type, documentId, locale, revision) {
      const documents = known.documents(type, locale ?? '');
      if (findIn(documents, type, documentId, locale ?? '') !== undefined) return undefined;
      return add(documents, { type, documentId, locale: locale ?? '', revision });
    },
    entry(type, documentId, locale) {
      const documents = known.documents(type, locale ?? '');
      const name = { type, documentId, locale: locale ?? '', revision: null };
      return findIn(documents, type, documentId, name.locale) ?? add(documents, name);
    },
    note: fresh.note,
    isFresh: fresh.has,
    freshEntry: fresh.row,
    freshEntriesOf: fresh.rowsOf,
    forget,
    target(entry) {
      const row = fresh.row(entry) ?? db.get(`SELECT ${ENTRY_COLUMNS} FROM entries WHERE id = ?`, entry);
      if (row === undefined) throw new Error(`the content graph has no entry ${entry}`);
      return { documentId: String(row[1]), locale: row[2] === '' ? null : String(row[2]) };
    },
    flush() {
      fresh.flush();
      // The cache is cleared only here, because until now the new entries existed only in it.
      if (known.count() >= CACHED_ENTRIES) forget();
    },
  };
}

/** Numbers of entries by type, locale and document. */
function createKnownEntries() {
  const types = new Map<number, Map<string, Map<string, number>>>();
  let count = 0;
  return {
    count: () => count,
    added: () => void count++,
    documents(type: number, locale: string): Map<string, number> {
      const locales = valueAt(types, type, () => new Map());
      return valueAt(locales, locale, () => new Map());
    },
    clear(): void {
      types.clear();
      count = 0;
    },
  };
}

function openFreshEntries(db: GraphDatabase) {
  const fresh = new Map<number, FreshEntry>();
  /** Entries in locales, by document. */
  const localized = new Map<string, number[]>();
  const row = (id: number): SqlRow | undefined => {
    const entry = fresh.get(id);
    if (entry === undefined) return undefined;
    const { documentId, locale } = entry;
    return [id, documentId, locale, ...notedOf(entry)];
  };
  return {
    add(entry: FreshEntry): void {
      fresh.set(entry.id, entry);
      if (entry.locale === '') return;
      addToList(localized, `${entry.type}/${entry.documentId}`, entry.id);
    },
    has: (id: number): boolean => fresh.has(id),
    row,
    rowsOf: (type: number, documentId: string): readonly SqlRow[] =>
      (localized.get(`${type}/${documentId}`) ?? []).map((id) => row(id) as SqlRow),
    note(noted: EntryNote): void {
      const { id, revision, sharedEdited, sharedPublished, unpublished, equalAt } = noted;
      const entry = fresh.get(id);
      if (entry === undefined) db.run(UPDATE_ENTRY, ...notedOf(noted), id);
      else fresh.set(id, { ...entry, revision, sharedEdited, sharedPublished, unpublished, equalAt });
    },
    flush(): void {
      for (const entry of fresh.values()) {
        const { id, type, documentId, locale } = entry;
        db.run(INSERT_ENTRY, id, type, documentId, locale, ...notedOf(entry));
      }
      fresh.clear();
      localized.clear();
    },
  };
}

/** Returns the columns of an entry that events change, in the order of the table. */
function notedOf(entry: EntryNote): SqlRow {
  const { revision, sharedEdited, sharedPublished, unpublished, equalAt } = entry;
  return [revision, sharedEdited, sharedPublished, unpublished, equalAt];
}
