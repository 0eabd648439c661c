import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '../../shared/sqlite/open-database.ts';
import { prepared } from '../../shared/sqlite/prepared.ts';
import { reading, transaction } from '../../shared/sqlite/transaction.ts';

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'varve-sqlite-'));
  path = join(directory, 'file.db');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const pets = 'CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT';
const owners = `CREATE TABLE owner (pet INTEGER NOT NULL REFERENCES pet (id)) STRICT`;
const open = (migrations: readonly string[] = [pets], durability: 'full' | 'normal' = 'full') =>
  openDatabase(path, { durability, migrations });
const pragma = (db: ReturnType<typeof open>, name: string) =>
  Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];

describe('openDatabase', () => {
  test.each([
    ['full', 2],
    ['normal', 1],
  ] as const)(
    'opens with %s durability in WAL mode, waits for locks, enforces foreign keys',
    (durability, synchronous) => {
      const db = open([pets, owners], durability);
      expect(pragma(db, 'journal_mode')).toBe('wal');
      expect(pragma(db, 'synchronous')).toBe(synchronous);
      expect(pragma(db, 'busy_timeout')).toBe(5000);
      expect(pragma(db, 'journal_size_limit')).toBe(64 * 1024 * 1024);
      expect(() => db.exec('INSERT INTO owner VALUES (7)')).toThrow(/FOREIGN KEY/);
      db.close();
    },
  );

  test('runs only the migrations that the file lacks', () => {
    const first = open([pets]);
    first.exec(`INSERT INTO pet (name) VALUES ('Ada')`);
    first.close();
    const second = open([pets, owners]);
    expect(pragma(second, 'user_version')).toBe(2);
    second.exec('INSERT INTO owner VALUES (1)');
    expect(second.prepare('SELECT name FROM pet JOIN owner ON pet = id').all()).toEqual([{ name: 'Ada' }]);
    second.close();
  });

  test('a migration that fails leaves nothing behind and names the file', () => {
    expect(() => open([pets, 'CREATE TABLE half (x) STRICT; SELECT broken'])).toThrow(path);
    const db = open([pets]);
    expect(pragma(db, 'user_version')).toBe(1);
    expect(db.prepare(`SELECT name FROM sqlite_schema WHERE name = 'half'`).all()).toEqual([]);
    db.close();
  });

  test('refuses a file of a newer version, and one that is not a database', () => {
    open([pets, owners]).close();
    expect(() => open([pets])).toThrow(/schema version is 2.*up to 1/);
    writeFileSync(
      path,
      'This is a text file and certainly not a database, however one looks at it.'.repeat(20),
    );
    expect(() => open()).toThrow(/file\.db.*not a database/);
  });
});

describe('transaction', () => {
  test('returns the result, or undoes everything and rethrows', () => {
    const db = open();
    expect(transaction(db, () => db.prepare(`INSERT INTO pet (name) VALUES ('Ada')`).run().changes)).toBe(1);
    expect(() =>
      transaction(db, () => {
        db.exec(`INSERT INTO pet (name) VALUES ('Bob')`);
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(db.isTransaction).toBe(false);
    expect(db.prepare('SELECT name FROM pet').all()).toEqual([{ name: 'Ada' }]);
    db.close();
  });

  test('refuses work that is not synchronous', () => {
    const db = open();
    expect(() => transaction(db, async () => db.exec(`INSERT INTO pet (name) VALUES ('Eve')`))).toThrow(
      /synchronous/,
    );
    expect(db.prepare('SELECT name FROM pet').all()).toEqual([]);
    db.close();
  });
});

describe('reading', () => {
  test('sees one state during other writes, and the next state afterwards', () => {
    const [db, other] = [open(), open()];
    const names = () => db.prepare('SELECT name FROM pet').all();
    const both = reading(db, () => {
      const before = names();
      other.exec(`INSERT INTO pet (name) VALUES ('Ada')`);
      return [before, names()];
    });
    expect(both).toEqual([[], []]);
    expect(names()).toEqual([{ name: 'Ada' }]);
    db.close();
    other.close();
  });

  test('ends when its work throws', () => {
    const db = open();
    const work = () => {
      throw new Error('no');
    };
    expect(() => reading(db, work)).toThrow('no');
    expect(db.isTransaction).toBe(false);
    db.close();
  });
});

describe('prepared', () => {
  test('compiles a statement once per connection and reading mode', () => {
    const db = open();
    const other = open();
    const sql = 'SELECT 9007199254740993 AS n';
    expect(prepared(db, sql, { bigints: true })).toBe(prepared(db, sql, { bigints: true }));
    expect(prepared(db, sql)).not.toBe(prepared(db, sql, { bigints: true }));
    expect(prepared(db, sql)).not.toBe(prepared(other, sql));
    expect(prepared(db, sql, { bigints: true }).get()).toEqual({ n: 9007199254740993n });
    expect(prepared(db, sql, { bigints: true, arrays: true }).get()).toEqual([9007199254740993n]);
    db.close();
    other.close();
  });
});
