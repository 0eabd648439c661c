import type { TypeDefinition } from '../../../shared/schema/type-definitions.ts';
import type { GraphDatabase } from './graph-database.ts';
import type { VersionNumber, WorldNumber } from './row-keys.ts';

/**
 * A value that the definition in force does not show. It is kept until the attribute is edited, or its definition is back. A component
 * has its id, and its relations are lists of entry numbers.
 */
export type KeptValue = {
  readonly entry: number;
  readonly version: VersionNumber;
  /** Component with the value, as `<uid> <id>`; '' for the row itself. */
  readonly owner: string;
  /** Attribute, or one of the names for a whole row below. */
  readonly attribute: string;
  /** Last definition that showed the value. */
  readonly definition: TypeDefinition;
  readonly data: unknown;
};

/** A kept value as it is stored. `deletion`: number of the last deletion of an entry before. */
export type StoredKeptValue = KeptValue & { readonly deletion: number };

/** Names of whole rows, which no attribute can have: rows that their type does not show, and a mark of rows that came back. */
export const ROW_WITHOUT_LOCALES = 'locale';
export const ROW_WITHOUT_DRAFTS = 'publishedAt';
const RESTORED_ROW = 'id';
const WHOLE_ROWS: readonly string[] = [ROW_WITHOUT_LOCALES, ROW_WITHOUT_DRAFTS, RESTORED_ROW];

const COLUMNS = `entry, version, owner, attribute, kept_definitions.data, kept_values.data, deletion
  FROM kept_values JOIN kept_definitions ON kept_definitions.id = definition`;
const OF_ENTRY = `SELECT ${COLUMNS} WHERE entry = ? ORDER BY version, owner, attribute`;
const ROWS_OF_TYPE = `SELECT ${COLUMNS} WHERE owner = '' AND attribute = ?
  AND entry IN (SELECT id FROM entries WHERE type = ?) ORDER BY entry, version`;
const NO_ROW = `attribute NOT IN (${WHOLE_ROWS.map((name) => `'${name}'`).join(', ')})`;
const MARK = `UPDATE OR REPLACE kept_values SET attribute = ?, data = 'null'
  WHERE entry = ? AND version = ? AND owner = '' AND attribute = ?`;
const RESTORED = 'SELECT 1 FROM kept_values WHERE entry = ? AND attribute = ?';
const FORGET = 'DELETE FROM kept_values WHERE entry = ? AND version = ? AND owner = ? AND attribute = ?';
const CLEAR = `DELETE FROM kept_values WHERE entry = ? AND version = ? AND ${NO_ROW}`;
const CLEAR_NAMES = `DELETE FROM kept_values WHERE entry = ? AND version = ? AND owner = ''
  AND attribute IN (SELECT value FROM json_each(?))`;
const COPIED = `INSERT OR REPLACE INTO kept_values
  SELECT entry, ?, ?, attribute, definition, data, deletion FROM kept_values
  WHERE entry = ? AND version = ? AND owner = ? AND ${NO_ROW}`;
const COPY = `${COPIED} AND ?6 IS NULL`;
const COPY_NAMES = `${COPIED} AND attribute IN (SELECT value FROM json_each(?6))`;
const FORGET_DOCUMENT = `DELETE FROM kept_values WHERE owner = '' AND attribute = '${ROW_WITHOUT_LOCALES}'
  AND entry IN (SELECT id FROM entries WHERE type = ? AND document_id = ?)`;
const LAST_DELETION = '(SELECT coalesce(max(number), 0) FROM kept_deletions)';
const NOTE_DELETION = `INSERT OR REPLACE INTO kept_deletions SELECT ?, ${LAST_DELETION} + 1`;
const DELETION = 'SELECT number FROM kept_deletions WHERE entry = ?';
const FORGET_ENTRY = 'DELETE FROM kept_values WHERE entry = ?';
const MOVE = `UPDATE OR REPLACE kept_values SET version = ? WHERE entry = ? AND version = ? AND ${NO_ROW}`;

/** A copy of a row's values to another version. `ids`: the copied components, as `<uid> <id>`, with their new ids. */
export type KeptCopy = {
  readonly from: WorldNumber;
  readonly to: WorldNumber;
  readonly only?: ReadonlySet<string> | undefined;
  readonly ids: ReadonlyMap<string, number>;
};

/** Kept values of a graph's file. */
export type KeptValues = ReturnType<typeof openKeptValues>;

/** Reads which entries have kept values. Each change is written at once, in the transaction of the events, and also behind. */
export function openKeptValues(db: GraphDatabase) {
  const entries = new Set<number>();
  for (const [entry] of db.all('SELECT DISTINCT entry FROM kept_values')) entries.add(entry as number);
  return {
    of: (entry: number): readonly StoredKeptValue[] =>
      entries.has(entry) ? db.all(OF_ENTRY, entry).map(keptValue) : [],
    /** Returns the whole rows of a type, by the number of the type. */
    rows: (type: number, attribute: typeof ROW_WITHOUT_LOCALES | typeof ROW_WITHOUT_DRAFTS) =>
      entries.size === 0 ? [] : db.all(ROWS_OF_TYPE, attribute, type).map(keptValue),
    /** `replaces`: also if the attribute has a kept value. Must not run behind. */
    keep({ entry, version, owner, attribute, definition, data }: KeptValue, replaces: boolean): void {
      entries.add(entry);
      db.run(
        `INSERT OR ${replaces ? 'REPLACE' : 'IGNORE'} INTO kept_values VALUES (?, ?, ?, ?, ?, ?, ${LAST_DELETION})`,
        ...[entry, version, owner, attribute, definitionNumber(db, definition), JSON.stringify(data)],
      );
    },
    /** Replaces a kept row by the mark that it came back. */
    markRestored(row: KeptValue): void {
      db.run(MARK, RESTORED_ROW, row.entry, row.version, row.attribute);
    },
    /** Returns whether the entry has a row that came back. */
    hasRestored: (entry: number): boolean =>
      entries.has(entry) && db.get(RESTORED, entry, RESTORED_ROW) !== undefined,
    forget({ entry, version, owner, attribute }: KeptValue): void {
      db.run(FORGET, entry, version, owner, attribute);
    },
    /** Called when attributes of a row were edited: their kept values are out of date. */
    edited(entry: number, version: VersionNumber, names: readonly string[]): void {
      if (entries.has(entry)) db.run(CLEAR_NAMES, entry, version, JSON.stringify(names));
    },
    /** Called when a version has other content. */
    clear(entry: number, version: VersionNumber): void {
      if (entries.has(entry)) db.run(CLEAR, entry, version);
    },
    /** Called when a row was copied to another version, whose values it replaces. */
    copy(entry: number, { from, to, only, ids }: KeptCopy): void {
      if (!entries.has(entry)) return;
      if (only === undefined) db.run(CLEAR, entry, to);
      const names = only === undefined ? null : JSON.stringify([...only]);
      db.run(only === undefined ? COPY : COPY_NAMES, to, '', entry, from, '', names);
      for (const [owner, id] of ids) {
        const [uid] = owner.split(' ');
        db.run(COPY, to, `${uid} ${id}`, entry, from, owner, null);
      }
    },
    move(entry: number, from: VersionNumber, to: VersionNumber): void {
      if (entries.has(entry)) db.run(MOVE, to, entry, from);
    },
    /** Forgets what an entry has. */
    forgetEntry(entry: number): void {
      if (entries.has(entry)) db.run(FORGET_ENTRY, entry);
    },
    /** Called when an entry was deleted. */
    deleted(entry: number): void {
      if (entries.size > 0) db.run(NOTE_DELETION, entry);
      if (entries.has(entry)) db.run(FORGET_ENTRY, entry);
    },
    /** Returns whether an entry was deleted after a value was kept. */
    isDeletedSince: ({ deletion }: StoredKeptValue, entry: number): boolean =>
      Number(db.get(DELETION, entry)?.[0] ?? 0) > deletion,
    /** Called when a document without locales was deleted: its locales do not come back. */
    forgetLocales(type: number, documentId: string): void {
      if (entries.size > 0) db.run(FORGET_DOCUMENT, type, documentId);
    },
  };
}

/** Returns whether a kept value is that of an attribute, not a whole row. */
export function isOfAttribute({ owner, attribute }: KeptValue): boolean {
  return owner !== '' || !isWholeRow(attribute);
}

/** Returns whether a name among the attributes of a row is that of the row itself. */
export function isWholeRow(attribute: string): boolean {
  return WHOLE_ROWS.includes(attribute);
}

function keptValue(row: readonly unknown[]): StoredKeptValue {
  const [entry, version, owner, attribute, definition, data, deletion] = row;
  return {
    entry: entry as number,
    version: version as VersionNumber,
    owner: String(owner),
    attribute: String(attribute),
    definition: JSON.parse(String(definition)) as TypeDefinition,
    data: JSON.parse(String(data)),
    deletion: deletion as number,
  };
}

function definitionNumber(db: GraphDatabase, definition: TypeDefinition): number {
  const text = JSON.stringify(definition);
  const known = db.get('SELECT id FROM kept_definitions WHERE data = ?', text);
  if (known !== undefined) return known[0] as number;
  db.run('INSERT INTO kept_definitions (data) VALUES (?)', text);
  return definitionNumber(db, definition);
}
