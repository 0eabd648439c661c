import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { newEvent } from '../contract/event-store-fixtures.ts';

const STREAM = 'varve.note-1';
const EVENTS = 90;
const wordOf = (at: number) => `Lammerfold${at}x`;
/** Texts that fill some events of a page, a whole page, and several. */
const textOf = (at: number) => `${wordOf(at)} `.repeat([1, 7, 40, 300][at % 4] ?? 1);

async function open(): Promise<{ readonly store: EventStore; readonly file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'varve-redact-'));
  const file = join(folder, 'events.db');
  const store = openSqliteEventStore(file, { space: 'varve' });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { store, file };
}

function redact(store: EventStore, at: number): Promise<void> | undefined {
  const metadata = { schemaVersion: 1, at: '2026-01-01T00:00:00.000Z', epoch: 1, erased: 'b'.repeat(36) };
  const id = `${String(at).padStart(4, '0')}${'0'.repeat(32)}`;
  return store.chain?.redact([{ stream: STREAM, revision: BigInt(at), id, data: { left: at }, metadata }]);
}

test('no copy of an event is left in the file, whatever was replaced before it', async () => {
  const { store, file } = await open();
  for (let at = 0; at < EVENTS; at++) await store.append(STREAM, 'any', [newEvent({ text: textOf(at) })]);
  const head = await store.chain?.head();
  const order = Array.from({ length: EVENTS }, (_, at) => at).sort((a, b) => (a % 3) - (b % 3) || a - b);
  const gone: number[] = [];
  for (const at of order) {
    await redact(store, at);
    gone.push(at);
    const bytes = readFileSync(file);
    expect(gone.filter((one) => bytes.includes(wordOf(one)))).toEqual([]);
  }
  expect(await Array.fromAsync(store.findDamage())).toEqual([]);
  expect(await store.chain?.head()).toEqual(head);
  const events = await Array.fromAsync(store.readStream(STREAM));
  expect(events.map(({ data }) => data)).toEqual(events.map((_, left) => ({ left })));
});

test('an event that was replaced before stays as it is', async () => {
  const { store } = await open();
  await store.append(STREAM, 'any', [newEvent({ text: textOf(0) }), newEvent({ text: textOf(1) })]);
  await redact(store, 0);
  const once = await Array.fromAsync(store.readStream(STREAM));
  await redact(store, 0);
  expect(await Array.fromAsync(store.readStream(STREAM))).toEqual(once);
  await expect(redact(store, 7)).rejects.toThrow(`the event log has no revision 7 of ${STREAM}`);
});

test('rejects while another process reads the earlier content, and removes it at the next call', async () => {
  const { store, file } = await open();
  await store.append(STREAM, 'any', [newEvent({ text: textOf(0) })]);
  const reader = new DatabaseSync(file, { readOnly: true });
  onTestFinished(() => reader.close());
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM event').get();
  await expect(redact(store, 0)).rejects.toThrow('another process reads the event log');
  reader.exec('COMMIT');
  await redact(store, 0);
  for (const part of [file, `${file}-wal`]) expect(readFileSync(part).includes(wordOf(0)), part).toBe(false);
});
