import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../shared/sqlite/open-database.ts';
import { openWriteBehind, type WriteBehind } from '../../shared/sqlite/write-behind.ts';

let directory: string;
let db: Database;
let writer: WriteBehind;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'varve-behind-'));
  const path = join(directory, 'file.db');
  const options = {
    durability: 'normal',
    migrations: ['CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT)'],
  } as const;
  db = openDatabase(path, options);
  writer = openWriteBehind(path, options);
});
afterEach(() => {
  db.close();
  rmSync(directory, { recursive: true, force: true });
});

const INSERT = 'INSERT INTO pet VALUES (?, ?)';
const names = () =>
  db
    .prepare('SELECT name FROM pet ORDER BY id')
    .all()
    .map(({ name }) => name);

it('executes transactions in order, for any number of pending ones', () => {
  for (let id = 1; id <= 50; id++) {
    writer.add(INSERT, [id, `first ${id}`]);
    writer.add('UPDATE pet SET name = ? WHERE id = ?', [`pet ${id}`, id]);
    writer.commit();
  }
  writer.settle();
  expect(names()).toEqual(Array.from({ length: 50 }, (_, i) => `pet ${i + 1}`));
  writer.close();
});

it('keeps bytes, texts, large integers and NULL', () => {
  writer.add('CREATE TABLE anything (a, b, c, d)', []);
  writer.commit();
  writer.add('INSERT INTO anything VALUES (?, ?, ?, ?)', [new Uint8Array([0, 255]), 'ü\0x', 2n ** 60n, null]);
  writer.commit();
  writer.settle();
  const select = db.prepare('SELECT * FROM anything');
  select.setReadBigInts(true);
  expect({ ...select.get() }).toEqual({ a: new Uint8Array([0, 255]), b: 'ü\0x', c: 2n ** 60n, d: null });
  writer.close();
});

it('reports an error, and executes neither that transaction nor later ones', () => {
  writer.add(INSERT, [1, 'stays']);
  writer.commit();
  writer.settle();
  writer.add(INSERT, [2, 'goes']);
  writer.add(INSERT, [1, 'twice']);
  writer.commit();
  const more = () => {
    for (let id = 3; id < 10; id++) {
      writer.add(INSERT, [id, 'too late']);
      writer.commit();
    }
    writer.settle();
  };
  expect(more).toThrow(
    expect.objectContaining({ cause: expect.objectContaining({ message: expect.stringMatching(/UNIQUE/) }) }),
  );
  expect(() => writer.close()).toThrow(/cannot write/);
  expect(names()).toEqual(['stays']);
});

it('writes the last transaction to the file without a further one', async () => {
  writer.add(INSERT, [1, 'alone']);
  writer.commit();
  await expect.poll(names).toEqual(['alone']);
  writer.close();
});

it('can be closed twice', () => {
  writer.close();
  writer.close();
});
