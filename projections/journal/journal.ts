import type { World } from '../../shared/read-index/read-index.ts';
import type { GraphDatabase } from '../graph/store/graph-database.ts';
import type { GraphEntry } from '../graph/store/graph-entry.ts';
import { DRAFT, PUBLISHED, rowKey, type VersionNumber, versionOfKey } from '../graph/store/row-keys.ts';

const ROW_EVENTS = ['create', 'update', 'delete'] as const;

/** Effect of an event on a row. */
type RowEvent = (typeof ROW_EVENTS)[number];

/** Attributes of the schema, and paths into components, that may differ from before; `all` if any of them may. */
export type ChangedNames = ReadonlySet<string> | 'all';

/** A change of one row, which is a document in one locale and version. */
export type JournalRow = {
  /** Position of the event. */
  readonly position: bigint;
  readonly locale: string | null;
  /** World of the row. All rows of a type without draft & publish are published. */
  readonly status: World;
  readonly event: RowEvent;
  /** Names of an update. */
  readonly changed: ChangedNames;
  /**
   * Present if the row became a copy of the other version. Other documents may have changed its links after this position. Absent if the
   * event wrote the row itself.
   */
  readonly linksAfter?: bigint;
};

/** A change of one version of an entry. `event`: default `create` or `update`, by whether the entry has the row now. */
type NewChange = Pick<JournalRow, 'changed'> & {
  readonly version: VersionNumber;
  readonly event?: RowEvent;
  readonly linksAfter?: number;
};

/** The effect of each event of the log on each row, in one table of the graph's file. Nothing is removed from it. */
export type Journal = {
  /** Adds a change by the event at a position, which must be the last one. Must run in the transaction of the event. */
  add(moment: { readonly position: number }, entry: GraphEntry, change: NewChange): void;
  /** Returns the changes after a position, up to another, in the order of the log. */
  between(after: bigint, upTo: bigint): readonly JournalRow[];
  /** Returns documents of a type that had a draft or only row removed before a position, newest first, at most `limit`. */
  removals(type: number, before: bigint | undefined, limit: number): Removals;
};

/** A removed row: the last event of its document may be a later one. */
export type Removal = { readonly position: bigint; readonly documentId: string };

export type Removals = {
  readonly documents: readonly Removal[];
  /** Position before which the search continues; undefined if there are no more. */
  readonly next: bigint | undefined;
};

/** Removed rows of all types that one call looks at. */
const MOST_REMOVALS = 20_000;

const ADD = 'INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?)';
const BETWEEN = `SELECT position, key, locale, event, names, links_after FROM journal JOIN entries ON id = key / 4
  WHERE position > ? AND position <= ? ORDER BY position, part`;
// An unpublished entry keeps its draft, which has the version 0. Version 1 is the published row.
const REMOVALS = `SELECT position, type, document_id, key % 4 FROM (
    SELECT position, key FROM journal WHERE event = 2 AND position < ? ORDER BY position DESC LIMIT ?
  ) JOIN entries ON id = key / 4 ORDER BY position DESC`;

/** Opens the journal of a graph. */
export function openJournal(db: GraphDatabase): Journal {
  let last = { position: 0, part: 0 };
  return {
    add({ position }, { id, rows }, { version, changed, event, linksAfter = null }) {
      last = { position, part: position === last.position ? last.part + 1 : 0 };
      const done = event ?? (rows[version] === undefined ? 'create' : 'update');
      const values = [rowKey(id, version), ROW_EVENTS.indexOf(done), namesText(changed), linksAfter];
      db.run(ADD, position, last.part, ...values);
    },
    between: (after, upTo) => db.all(BETWEEN, after, upTo).map(journalRow),
    removals(type, before, limit) {
      const rows = db.all(REMOVALS, before ?? Number.MAX_SAFE_INTEGER, MOST_REMOVALS);
      const documents: Removal[] = [];
      const known = new Set<string>();
      for (const [position, of, documentId, version] of rows) {
        if (of !== type || version === PUBLISHED || known.has(String(documentId))) continue;
        const last = documents.at(-1)?.position;
        if (documents.length >= limit) return { documents, next: last };
        known.add(String(documentId));
        documents.push({ position: BigInt(Number(position)), documentId: String(documentId) });
      }
      const next = rows.length < MOST_REMOVALS ? undefined : BigInt(Number(rows.at(-1)?.[0]));
      return { documents, next };
    },
  };
}

function journalRow(row: readonly unknown[]): JournalRow {
  const [position, key, locale, event, names, linksAfter] = row as readonly [
    ...(readonly [position: number, key: number, locale: string, event: number]),
    ...(readonly [names: string | null, linksAfter: number | null]),
  ];
  return {
    position: BigInt(position),
    // An entry from before locales were switched has a number after its locale.
    locale: locale.split('#', 1)[0] || null,
    status: versionOfKey(key) === DRAFT ? 'draft' : 'published',
    event: ROW_EVENTS[event] as RowEvent,
    changed: namesIn(names),
    ...(linksAfter === null ? {} : { linksAfter: BigInt(linksAfter) }),
  };
}

/** Returns names as columns have them: JSON, an empty text for none, null for all. */
export function namesText(names: ChangedNames): string | null {
  if (names === 'all') return null;
  return names.size === 0 ? '' : JSON.stringify([...names]);
}

/** Returns the names of a column. */
export function namesIn(text: string | null): ChangedNames {
  return text === null ? 'all' : new Set(text === '' ? [] : (JSON.parse(text) as readonly string[]));
}
