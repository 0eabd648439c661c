import type { Entry } from '../../shared/document/entry.ts';
import { type Database, openDatabase } from '../../shared/sqlite/open-database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';
import { createLocaleGroups, type LocaleGroup } from './locale-groups.ts';

/** Row of a content type in an archive. */
export type StagedRow = Pick<Entry, 'id' | 'documentId' | 'locale' | 'version'> & {
  readonly type: string;
  readonly data: { readonly [name: string]: unknown };
};

/** Link, seen from the side that owns the relation. A position is null if its side shows no list. */
export type StagedLink = {
  /** Uid of a content type or component. */
  readonly ownerType: string;
  readonly ownerId: number;
  readonly attribute: string;
  readonly targetType: string;
  readonly targetId: number;
  readonly ownerPosition: number | null;
  readonly targetPosition: number | null;
};

export type LinkedRow = Pick<StagedLink, 'attribute' | 'targetType' | 'targetId'> & {
  readonly documentId: string;
  readonly locale: string | null;
  /** Slot in the target's list, from 1; null if the target shows no list. */
  readonly order: number | null;
  /** The only world of the link; absent if the link is in all worlds of its owner. */
  readonly world?: 'draft' | 'published';
};

/**
 * Rows and links of an archive in a SQLite file. The import cannot read them in the archive's order. There all links come after all rows,
 * and the rows of a document are far from each other.
 */
export type Staging = {
  /** Adds a row. Returns false, and adds nothing, if another row of the type has its id. */
  addRow(row: StagedRow): boolean;
  addLink(link: StagedLink): void;
  /** Says that two rows are locales of one document. It counts only for rows of Strapi 4, which have no documentId. */
  joinLocales(type: string, id: number, other: number): void;
  /**
   * Ends the writing. Call it before any read. Returns the number of documents. `onApart` gets each row that stays a document of its own,
   * because a row that it is joined with has its locale and version.
   */
  settle(onApart?: (type: string, id: number) => void): number;
  /** Yields the rows of each document, type by type. */
  documents(): Generator<readonly StagedRow[]>;
  /** Returns the links of an owner in their order, without those whose target is missing. */
  linksOf(ownerType: string, ownerId: number): readonly LinkedRow[];
  row(type: string, id: number): Pick<StagedRow, 'data'> | undefined;
  /** Returns the largest id of a type's rows; 0 if it has none. */
  largestId(type: string): number;
  rowsOf(type: string): readonly Pick<StagedRow, 'id' | 'data'>[];
  /** Counts the links whose target is in the archive. */
  countLinks(): number;
  /** Counts the links whose target is not in the archive, by the owner's type and attribute. */
  danglingLinks(): readonly { readonly attribute: string; readonly count: number }[];
  close(): void;
};

const SCHEMA = `
  CREATE TABLE rows (
    type TEXT NOT NULL, id INTEGER NOT NULL, document TEXT NOT NULL, locale TEXT, version TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (type, id)
  ) WITHOUT ROWID;
  CREATE TABLE links (
    number INTEGER PRIMARY KEY, owner_type TEXT NOT NULL, owner_id INTEGER NOT NULL, attribute TEXT NOT NULL,
    target_type TEXT NOT NULL, target_id INTEGER NOT NULL, owner_position REAL, target_position REAL, rank INTEGER
  );
`;
const INDICES = `
  CREATE INDEX rows_by_document ON rows (type, document, id);
  CREATE INDEX links_by_owner ON links (owner_type, owner_id);
  UPDATE links SET rank = ranked.rank FROM (
    SELECT number, row_number() OVER (
      PARTITION BY owner_type, attribute, target_type, target_id ORDER BY target_position, number
    ) AS rank FROM links WHERE target_position IS NOT NULL
  ) AS ranked WHERE links.number = ranked.number;
`;
const INSERT_ROW = 'INSERT OR IGNORE INTO rows VALUES (?, ?, ?, ?, ?, ?)';
const INSERT_LINK = `INSERT INTO links (owner_type, owner_id, attribute, target_type, target_id, owner_position, target_position)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const ROWS = 'SELECT type, id, document, locale, version, data FROM rows ORDER BY type, document, id';
const LINKS = `SELECT attribute, target_type, target_id, document, locale, rank
  FROM links JOIN rows ON rows.type = target_type AND rows.id = target_id
  WHERE owner_type = ? AND owner_id = ? ORDER BY attribute, owner_position IS NULL, owner_position, number`;
const LOCALE = `SELECT locale, version, document, json_type(data, '$.documentId') = 'text' AND data ->> 'documentId' <> ''
  FROM rows WHERE type = ? AND id = ?`;
const JOIN = 'UPDATE rows SET document = ? WHERE type = ? AND id = ?';
const COUNT_LINKS = 'SELECT count(*) FROM links JOIN rows ON rows.type = target_type AND rows.id = target_id';
const DANGLING = `SELECT owner_type || ' ' || attribute, count(*) FROM links
  LEFT JOIN rows ON rows.type = target_type AND rows.id = target_id
  WHERE rows.id IS NULL GROUP BY 1 ORDER BY 1`;

/** Creates the file. All writes up to `settle` are one transaction. */
export function openStaging(file: string): Staging {
  const db = openDatabase(file, { durability: 'normal', migrations: [SCHEMA], cacheKibibytes: 64 * 1024 });
  // The file is not needed after the import.
  db.exec('PRAGMA synchronous = OFF');
  db.exec('BEGIN');
  const locales = createLocaleGroups();
  return {
    addRow({ type, id, documentId, locale, version, data }) {
      const values = [type, id, documentId, locale, version, JSON.stringify(data)];
      return prepared(db, INSERT_ROW).run(...values).changes > 0;
    },
    addLink(link) {
      const { ownerType, ownerId, attribute, targetType, targetId, ownerPosition, targetPosition } = link;
      const ends = [ownerType, ownerId, attribute, targetType, targetId];
      prepared(db, INSERT_LINK).run(...ends, ownerPosition, targetPosition);
    },
    joinLocales: locales.join,
    settle(onApart = () => {}) {
      for (const group of locales.groups()) joinGroup(db, group, onApart);
      db.exec('COMMIT');
      db.exec(INDICES);
      return Number(all(db, 'SELECT count(*) FROM (SELECT DISTINCT type, document FROM rows)')[0]?.[0]);
    },
    *documents() {
      let document: StagedRow[] = [];
      for (const row of prepared(db, ROWS, { arrays: true }).iterate()) {
        const next = stagedRow(row as unknown as readonly unknown[]);
        const [first] = document;
        if (first !== undefined && (first.type !== next.type || first.documentId !== next.documentId)) {
          yield document;
          document = [];
        }
        document.push(next);
      }
      if (document.length > 0) yield document;
    },
    linksOf: (ownerType, ownerId) =>
      all(db, LINKS, ownerType, ownerId).map(
        ([attribute, targetType, targetId, documentId, locale, order]) => ({
          attribute: String(attribute),
          targetType: String(targetType),
          targetId: Number(targetId),
          documentId: String(documentId),
          locale: locale as string | null,
          order: order as number | null,
        }),
      ),
    row(type, id) {
      const [found] = all(db, 'SELECT data FROM rows WHERE type = ? AND id = ?', type, id);
      return found && { data: JSON.parse(String(found[0])) };
    },
    largestId: (type) => Number(all(db, 'SELECT max(id) FROM rows WHERE type = ?', type)[0]?.[0] ?? 0),
    rowsOf: (type) =>
      all(db, 'SELECT id, data FROM rows WHERE type = ? ORDER BY id', type).map(([id, data]) => ({
        id: Number(id),
        data: JSON.parse(String(data)),
      })),
    countLinks: () => Number(all(db, COUNT_LINKS)[0]?.[0]),
    danglingLinks: () =>
      all(db, DANGLING).map(([attribute, count]) => ({ attribute: String(attribute), count: Number(count) })),
    close: () => db.close(),
  };
}

function stagedRow([type, id, document, locale, version, data]: readonly unknown[]): StagedRow {
  return {
    type: String(type),
    id: Number(id),
    documentId: String(document),
    locale: locale as string | null,
    version: version as StagedRow['version'],
    data: JSON.parse(String(data)),
  };
}

function all(db: Database, sql: string, ...values: (string | number)[]): readonly (readonly unknown[])[] {
  return prepared(db, sql, { arrays: true }).all(...values) as unknown as readonly (readonly unknown[])[];
}

/** Makes the rows of a group one document, with the id of its first row. No two of them have one locale and version. */
function joinGroup(
  db: Database,
  { type, ids }: LocaleGroup,
  onApart: (type: string, id: number) => void,
): void {
  const versions = new Set<string>();
  let document: string | undefined;
  for (const id of ids) {
    const [found] = all(db, LOCALE, type, id);
    if (found === undefined) continue;
    const [locale, version, own, isNamed] = found;
    const key = `${version} ${locale}`;
    if (Number(isNamed) === 1) continue;
    if (versions.has(key)) onApart(type, id);
    else {
      versions.add(key);
      document ??= String(own);
      prepared(db, JOIN).run(document, type, id);
    }
  }
}
