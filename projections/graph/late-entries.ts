import { existsSync, renameSync } from 'node:fs';
import { connectDatabase, type Database } from '../../shared/sqlite/open-database.ts';
import { transaction } from '../../shared/sqlite/transaction.ts';

/**
 * Two copies of a graph. One is converted to other content types, ahead of the log. The plain copy still applies the log under the content
 * types in force. Its triggers list the entries that it touches: the converted copy lacks only these.
 */

/** Identifies the pair, so that a converted copy is never completed from another graph. */
const PAIR = 'converted copy';

const TOUCHED: readonly (readonly [table: string, entry: (row: string) => string])[] = [
  ['entries', (row) => `${row}.id`],
  ['rows', (row) => `${row}.key / 4`],
  ['ids', (row) => `${row}.key / 4`],
  ['unique_values', (row) => `${row}.entry`],
  ['links', (row) => `${row}.source`],
  ['pending_edits', (row) => `${row}.source`],
];
const CHANGES = [
  ['insert', 'new'],
  ['update', 'new'],
  ['delete', 'old'],
] as const;

/** Begins to list every entry that a process touches in the file. */
export function recordTouchedEntries(plain: string, converted: string, pair: number): void {
  const mark = (db: Database) => db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(PAIR, pair);
  inFile(converted, (db) => transaction(db, () => mark(db)));
  inFile(plain, (db) =>
    transaction(db, () => {
      unlist(db);
      db.exec('CREATE TABLE touched (number INTEGER PRIMARY KEY, entry INTEGER NOT NULL)');
      for (const [table, entry] of TOUCHED) {
        for (const [change, row] of CHANGES)
          db.exec(`CREATE TRIGGER ${triggerOf(table, change)} AFTER ${change} ON ${table}
            BEGIN INSERT INTO touched (entry) VALUES (${entry(row)}); END`);
      }
      mark(db);
    }),
  );
}

/** Stops listing entries. */
export function stopListing(plain: string): void {
  inFile(plain, (db) => transaction(db, () => unlist(db)));
}

/** Returns whether the converted copy and the list are of one pair. */
export function areOfOnePair(plain: string, converted: string): boolean {
  const pairOf = (file: string) =>
    inFile(file, (db) => db.prepare('SELECT value FROM meta WHERE name = ?').get(PAIR)?.['value']);
  const pair = pairOf(plain);
  return pair !== undefined && pair === pairOf(converted);
}

/**
 * Replaces the plain copy by the converted one, which gets the plain one's position in the log. No process may have either file open. After
 * a crash one of the two copies is there. Throws if SQLite could not close a file, because the WAL next to it belongs to that file.
 */
export function replaceByConverted(plain: string, converted: string): void {
  inFile(converted, (db) => {
    db.prepare('ATTACH ? AS late').run(plain);
    transaction(db, () => {
      db.exec(`DELETE FROM main.meta; INSERT INTO main.meta SELECT * FROM late.meta WHERE name <> '${PAIR}'`);
      for (const table of ['last_event', 'sequences'])
        db.exec(`DELETE FROM main.${table}; INSERT INTO main.${table} SELECT * FROM late.${table}`);
      db.exec(`INSERT OR REPLACE INTO main.commands SELECT * FROM late.commands WHERE NOT EXISTS (
        SELECT 1 FROM main.commands AS known WHERE known.id = commands.id AND known.position = commands.position)`);
    });
  });
  for (const file of [plain, converted])
    if (existsSync(`${file}-wal`)) throw new Error(`${file} could not be closed: another process reads it`);
  renameSync(converted, plain);
}

function unlist(db: Database): void {
  for (const [table] of TOUCHED)
    for (const [change] of CHANGES) db.exec(`DROP TRIGGER IF EXISTS ${triggerOf(table, change)}`);
  db.exec('DROP TABLE IF EXISTS touched');
  db.prepare('DELETE FROM meta WHERE name = ?').run(PAIR);
}

function triggerOf(table: string, change: string): string {
  return `touched_${table}_${change}`;
}

function inFile<Result>(file: string, use: (db: Database) => Result): Result {
  const db = connectDatabase(file, { durability: 'normal' });
  try {
    return use(db);
  } finally {
    db.close();
  }
}
