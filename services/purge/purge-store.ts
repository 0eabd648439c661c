import { join } from 'node:path';
import { metaValues } from '../../shared/sqlite/meta-values.ts';
import { openDatabase } from '../../shared/sqlite/open-database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';
import { replaceDamaged } from '../../shared/sqlite/replace-damaged.ts';
import { transaction } from '../../shared/sqlite/transaction.ts';
import { SHORT_WAIT_MS } from '../../shared/sqlite/when-unlocked.ts';
import type { PurgedTags } from './purge-target.ts';

/** Names of changed tags, in the order in which they changed. */
export type StoredChange = PurgedTags & { readonly seq: number };

/** The last term whose purges are all in this file: its lease, and the shape of answers. */
export type PurgeTerm = { readonly epoch: number; readonly shape: string };

/** Changes to purge, and the progress of each receiver, in one file. */
export type PurgeStore = ReturnType<typeof openPurgeStore>;

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

/**
 * Opens the file in a data directory. Makes a new one if it is missing or damaged: then the caller must purge all answers. `replaced` gets
 * the name of a damaged file. A statement throws if another process has locked the file.
 */
export function openPurgeStore(folder: string, replaced: (file: string) => void) {
  const file = join(folder, PURGES_FILE);
  if (replaceDamaged(file, ['meta', 'changes'])) replaced(file);
  const db = openDatabase(file, { durability: 'normal', migrations: MIGRATIONS, waitMs: SHORT_WAIT_MS });
  const meta = metaValues(db);
  const number = (sql: string) => Number(prepared(db, sql).get()?.['n'] ?? 0);
  let removed = 0;
  const newest = () => number(`SELECT seq AS n FROM sqlite_sequence WHERE name = 'changes'`);
  /** Returns the number of the last change that a receiver has purged; undefined for a new receiver. */
  const checkpoint = (receiver: string) => meta.get(`checkpoint ${receiver}`, Number);
  return {
    /** Adds changes, all or none, in the order of their positions. */
    add(changes: readonly PurgedTags[]): void {
      transaction(db, () => {
        for (const { position, names, plain } of changes) {
          const values = [String(position), names.join(' '), plain.join(' ')];
          prepared(db, 'INSERT INTO changes (position, names, plain) VALUES (?, ?, ?)').run(...values);
          meta.set('noted', String(position));
        }
      });
    },
    /** Position up to which the file has changes. */
    noted: () => meta.get('noted', BigInt),
    /** Notes that nothing changed up to a position. */
    note: (position: bigint) => meta.set('noted', String(position)),
    /** Returns the first changes after a number, at most `limit`. */
    after: (seq: number, limit: number): readonly StoredChange[] =>
      prepared(db, 'SELECT seq, position, names, plain FROM changes WHERE seq > ? ORDER BY seq LIMIT ?')
        .all(seq, limit)
        .map((row) => ({
          seq: Number(row['seq']),
          position: BigInt(String(row['position'])),
          names: wordsOf(row['names']),
          plain: wordsOf(row['plain']),
        })),
    checkpoint,
    /** Moves a checkpoint forward. A leader that was paused may confirm an earlier purge than the next leader. */
    moveCheckpoint(receiver: string, seq: number): void {
      if (seq > (checkpoint(receiver) ?? -1)) meta.set(`checkpoint ${receiver}`, String(seq));
    },
    term: () => meta.get('term', (text) => JSON.parse(text) as PurgeTerm),
    keepTerm: (term: PurgeTerm) => meta.set('term', JSON.stringify(term)),
    newest,
    /** Returns false if the receiver is new, or changes were removed that it has not purged. */
    hasAllFor(receiver: string): boolean {
      const last = checkpoint(receiver);
      const oldest = number('SELECT min(seq) AS n FROM changes') || newest() + 1;
      return last !== undefined && last >= oldest - 1;
    },
    /** Removes all but the newest changes. */
    prune: (keep: number) => void prepared(db, 'DELETE FROM changes WHERE seq <= ?').run(newest() - keep),
    /** Removes changes that all of these receivers have purged. */
    done(receivers: readonly string[]): void {
      const least = Math.min(...receivers.map((one) => checkpoint(one) ?? 0));
      if (least <= removed) return;
      prepared(db, 'DELETE FROM changes WHERE seq <= ?').run(least);
      removed = least;
    },
    close: () => db.close(),
  };
}

function wordsOf(text: unknown): readonly string[] {
  return String(text).split(' ').filter(Boolean);
}
