import type { LinkTarget } from '../../shared/document/events.ts';
import type { GraphDatabase } from './graph-database.ts';
import type { Sequences } from './sequences.ts';

/** Bounds the memory of the cache (about 150 bytes an entry). */
const CACHED_ENTRIES = 200_000;

const INSERT_ENTRY = 'INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?, ?, 0, 0)';

/** Numbers of content types, attributes and entries. */
export type Names = {
  /** Number of a content type or attribute; allotted at its first use. */
  number(name: string): number;
  /** Number of an entry; undefined when it was never mentioned. */
  find(type: number, documentId: string, locale: string | null): number | undefined;
  /** Numbers an entry that none of the events before the current one mentioned; undefined when one did. */
  create(
    type: number,
    documentId: string,
    locale: string | null,
    revision: number | null,
  ): number | undefined;
  /** Number of an entry; allotted at its first mention. */
  entry(type: number, documentId: string, locale: string | null): number;
  /** Entries were given other locales. */
  forget(): void;
  /** Document and locale of an entry's number. */
  target(entry: number): LinkTarget;
};

export function openNames(db: GraphDatabase, sequences: Sequences): Names {
  const numbers = new Map<string, number>();
  for (const [id, name] of db.all('SELECT id, name FROM names')) numbers.set(String(name), Number(id));
  const entries = new Map<string, number>();
  const remember = (key: string, id: number): number => {
    if (entries.size >= CACHED_ENTRIES) entries.clear();
    entries.set(key, id);
    return id;
  };
  const find: Names['find'] = (type, documentId, locale) => {
    const key = `${type}/${locale ?? ''}/${documentId}`;
    const known = entries.get(key);
    if (known !== undefined) return known;
    const row = db.get(
      'SELECT id FROM entries WHERE document_id = ? AND type = ? AND locale = ?',
      documentId,
      type,
      locale ?? '',
    );
    return row === undefined ? undefined : remember(key, Number(row[0]));
  };
  const create: Names['create'] = (type, documentId, locale, revision) => {
    const key = `${type}/${locale ?? ''}/${documentId}`;
    if (entries.has(key)) return undefined;
    const id = sequences.next('entry');
    if (db.run(INSERT_ENTRY, id, type, documentId, locale ?? '', revision) === 1) return remember(key, id);
    sequences.giveBack('entry');
    return undefined;
  };
  return {
    number(name) {
      const known = numbers.get(name);
      if (known !== undefined) return known;
      const id = numbers.size + 1;
      db.run('INSERT INTO names (id, name) VALUES (?, ?)', id, name);
      numbers.set(name, id);
      return id;
    },
    find,
    create,
    entry(type, documentId, locale) {
      const id = find(type, documentId, locale) ?? create(type, documentId, locale, null);
      if (id === undefined) throw new Error(`${documentId} is neither known nor new`);
      return id;
    },
    forget: () => entries.clear(),
    target(entry) {
      const row = db.get('SELECT document_id, locale FROM entries WHERE id = ?', entry);
      if (row === undefined) throw new Error(`the content graph has no entry ${entry}`);
      return { documentId: String(row[0]), locale: row[1] === '' ? null : String(row[1]) };
    },
  };
}
