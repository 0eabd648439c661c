import { existsSync, renameSync } from 'node:fs';
import { connectDatabase, type Database } from '../../shared/sqlite/open-database.ts';
import { transaction } from '../../shared/sqlite/transaction.ts';

/**
 * Two copies of a graph of which one is converted to other content types, ahead of the log. The plain one still applies the log,
 * by the content types in force, and its triggers list the entries that it touches. These are all that the converted one lacks.
 */

/** Names both copies, so that a converted one is never completed from another graph. */
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

/** Lists every entry that any process touches from now on in the file. */
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

/** Lists no entries any more. */
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
 * Puts the converted copy in the place of the plain one, as far as that is in the log. Nobody has either file open. A crash leaves
 * the one or the other. Throws where SQLite could not close a file: what it holds back next to the file belongs to that file.
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
