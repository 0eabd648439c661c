import { join } from 'node:path';
import { metaValues } from '../../shared/sqlite/meta-values.ts';
import { openDatabase } from '../../shared/sqlite/open-database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';
import { transaction } from '../../shared/sqlite/transaction.ts';
import type { PurgedTags } from './purge-target.ts';

/** Names of changed tags, in the order in which they changed. */
export type StoredChange = PurgedTags & { readonly seq: number };

/** The last term whose purges are all in this file: its lease, and the shape of answers. */
export type PurgeTerm = { readonly epoch: number; readonly shape: string };

/** Changes to purge, and the progress of each receiver, in one file. */
export type PurgeStore = {
  /** Adds the names that changed up to a position. */
  add(change: PurgedTags): void;
  /** Position up to which the file has changes. */
  noted(): bigint | undefined;
  /** Notes that nothing changed up to a position. */
  note(position: bigint): void;
  /** The first changes that a receiver has not purged. */
  after(seq: number, limit: number): readonly StoredChange[];
  /** undefined: the receiver is new. */
  checkpoint(receiver: string): number | undefined;
  moveCheckpoint(receiver: string, seq: number): void;
  term(): PurgeTerm | undefined;
  keepTerm(term: PurgeTerm): void;
  newest(): number;
  /** Returns false if the receiver is new, or changes were removed that it has not purged. */
  hasAllFor(receiver: string): boolean;
  /** Removes all but the newest changes. */
  prune(keep: number): void;
  /** Removes changes that all of these receivers have purged. */
  done(receivers: readonly string[]): void;
  close(): void;
};

const MIGRATIONS = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

  -- position: of the log. names and plain: tags with spaces between them.
  CREATE TABLE changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    position TEXT NOT NULL,
    names TEXT NOT NULL,
    plain TEXT NOT NULL
  );
  `,
];

const PURGES_FILE = 'purges.db';

/** Opens the file in a data directory, and makes it if there is none. */
export function openPurgeStore(folder: string): PurgeStore {
  const db = openDatabase(join(folder, PURGES_FILE), { durability: 'normal', migrations: MIGRATIONS });
  const meta = metaValues(db);
  const number = (sql: string) => Number(prepared(db, sql).get()?.['n'] ?? 0);
  const newest = () => number(`SELECT seq AS n FROM sqlite_sequence WHERE name = 'changes'`);
  const checkpoint = (receiver: string) => meta.get(`checkpoint ${receiver}`, Number);
  return {
    add({ position, names, plain }) {
      transaction(db, () => {
        prepared(db, 'INSERT INTO changes (position, names, plain) VALUES (?, ?, ?)').run(
          String(position),
          names.join(' '),
          plain.join(' '),
        );
        meta.set('noted', String(position));
      });
    },
    noted: () => meta.get('noted', BigInt),
    note: (position) => meta.set('noted', String(position)),
    after: (seq, limit) =>
      prepared(db, 'SELECT seq, position, names, plain FROM changes WHERE seq > ? ORDER BY seq LIMIT ?')
        .all(seq, limit)
        .map((row) => ({
          seq: Number(row['seq']),
          position: BigInt(String(row['position'])),
          names: wordsOf(row['names']),
          plain: wordsOf(row['plain']),
        })),
    checkpoint,
    moveCheckpoint: (receiver, seq) => meta.set(`checkpoint ${receiver}`, String(seq)),
    term: () => meta.get('term', (text) => JSON.parse(text) as PurgeTerm),
    keepTerm: (term) => meta.set('term', JSON.stringify(term)),
    newest,
    hasAllFor(receiver) {
      const last = checkpoint(receiver);
      const oldest = number('SELECT min(seq) AS n FROM changes') || newest() + 1;
      return last !== undefined && last >= oldest - 1;
    },
    prune(keep) {
      prepared(
        db,
        `DELETE FROM changes WHERE seq <= (SELECT seq FROM sqlite_sequence WHERE name = 'changes') - ?`,
      ).run(keep);
    },
    done(receivers) {
      const least = Math.min(...receivers.map((one) => checkpoint(one) ?? 0));
      prepared(db, 'DELETE FROM changes WHERE seq <= ?').run(least);
    },
    close: () => db.close(),
  };
}

function wordsOf(text: unknown): readonly string[] {
  return String(text).split(' ').filter(Boolean);
}
