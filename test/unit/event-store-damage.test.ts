import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OTHER_CONTENT } from '../../shared/event-store/event-digest.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { findDamageOf } from '../../shared/event-store/find-damage.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { newEvent, readAll, readStream } from '../contract/event-store-fixtures.ts';
import { createEarlierLog } from '../support/earlier-log.ts';

let folder: string;
let file: string;
let store: EventStore;
let other: EventStore;
const open = (space: string) => openSqliteEventStore(file, { space });
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'varve-damage-'));
  file = join(folder, 'events.db');
});
afterEach(async () => {
  await Promise.all([store?.close(), other?.close()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Appends events: positions 1, 2, 4, 5, 7 and 8 are in namespace `varve`, 3 and 6 in `other`. */
const fill = async () => {
  [store, other] = [open('varve'), open('other')];
  for (const n of [1, 2]) {
    await store.append('varve.note-1', 'any', [newEvent({ n, text: 'kept' }), newEvent({ n: n * 10 })]);
    await other.append('other.note-1', 'any', [newEvent({ theirs: n })]);
  }
  await store.append('varve.note-2', 'none', [newEvent({ n: 7 }), newEvent({ n: 8 })]);
};
const change = (sql: string) => {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
};
const damaged = (events: readonly StoredEvent[]) =>
  events.flatMap(({ position, unreadable }) =>
    unreadable === undefined ? [] : [[Number(position), unreadable.kind]],
  );
const found = async (log: EventStore) =>
  (await Array.fromAsync(log.findDamage())).map(({ position }) => Number(position));

const BREAKS = /hash chain of the log breaks at it/;

describe('damage of a log', () => {
  const cases: [string, string, number[], number[], RegExp | string][] = [
    [
      'a changed letter',
      "UPDATE event SET data = replace(data, 'kept', 'kepu') WHERE position = 1",
      [1],
      [1],
      OTHER_CONTENT,
    ],
    [
      'a changed time',
      "UPDATE event SET metadata = replace(metadata, '05:06', '05:07') WHERE position = 4",
      [4],
      [4],
      OTHER_CONTENT,
    ],
    ['another type', "UPDATE event SET type = 'entry-deleted' WHERE position = 8", [8], [8], OTHER_CONTENT],
    [
      'another id',
      "UPDATE event SET id = '00000000-0000-4000-8000-000000000001' WHERE position = 5",
      [5],
      [5],
      OTHER_CONTENT,
    ],
    [
      'no digest any more',
      `UPDATE event SET metadata = '{"schemaVersion":1,"at":"","epoch":0}' WHERE position = 2`,
      [2],
      [2],
      BREAKS,
    ],
    ['another stream', "UPDATE event SET stream = 'varve.note-3' WHERE position = 7", [7], [7], BREAKS],
    ['another revision', 'UPDATE event SET revision = 5 WHERE position = 8', [8], [8], BREAKS],
    [
      'an event that is gone',
      'DELETE FROM event WHERE position = 4',
      [5],
      [5],
      /the event before it, at position 4, is missing/,
    ],
    [
      "another space's event that is gone",
      'DELETE FROM event WHERE position = 3',
      [4],
      [4],
      /at position 3, is missing/,
    ],
    [
      "another space's changed event",
      "UPDATE event SET data = '{}' WHERE position = 6",
      [],
      [6],
      OTHER_CONTENT,
    ],
    [
      'two events in each other’s places',
      'UPDATE event SET position = -1 WHERE position = 1; UPDATE event SET position = 1 WHERE position = 2; UPDATE event SET position = 2 WHERE position = -1',
      [1, 2],
      [1, 2, 3],
      BREAKS,
    ],
    [
      'a changed link',
      "UPDATE event SET chain = replace(chain, substr(chain, 1, 4), '0000') WHERE position = 4",
      [4, 5],
      [4, 5],
      BREAKS,
    ],
  ];
  test.each(cases)(
    '%s is reported by every replay, and by a check of the whole file',
    async (_, sql, ours, all, reason) => {
      await fill();
      expect([damaged(await readAll(store)), await found(store), await found(other)]).toEqual([[], [], []]);
      change(sql);
      expect(damaged(await readAll(store))).toEqual(ours.map((position) => [position, 'damaged']));
      expect([await found(store), await found(other)]).toEqual([all, all]);
      expect((await Array.fromAsync(store.findDamage()))[0]?.reason).toMatch(reason);
    },
  );

  test('missing events at the end are found with a recorded head', async () => {
    await fill();
    const head = await store.chain?.head();
    expect(head).toEqual({ position: 8n, chain: (await readAll(store)).at(-1)?.chain });
    // The log is cut while no process has it open: an open process would stop (log-identity.ts).
    await store.close();
    change('DELETE FROM event WHERE position > 6');
    store = open('varve');
    expect([await found(store), await store.historyAt(8n)]).toEqual([[], undefined]);
    await store.append('varve.note-2', 'none', [newEvent({ n: 7 }), newEvent({ n: 8 })]);
    expect(await found(store)).toEqual([]);
    expect(await store.historyAt(8n)).not.toBe(head?.chain);
  });

  test('a file that was copied without its write-ahead log is a valid history that ends before the recorded head', async () => {
    await fill();
    change('PRAGMA wal_checkpoint(TRUNCATE)');
    await store.append('varve.note-2', 'any', [newEvent({ n: 9 })]);
    const head = await store.chain?.head();
    const copy = join(folder, 'copy.db');
    copyFileSync(file, copy);
    const copied = openSqliteEventStore(copy, { space: 'varve' });
    expect([await found(copied), await copied.lastPosition()]).toEqual([[], 8n]);
    expect([head?.position, await copied.historyAt(9n)]).toEqual([9n, undefined]);
    await copied.close();
  });

  test('events of an earlier release, which carry no digest, are covered by the chain from the upgrade on', async () => {
    createEarlierLog(file).close();
    store = open('varve');
    expect(damaged(await readAll(store))).toEqual([]);
    change("UPDATE event SET data = replace(data, 'Carmela', 'Carmelo') WHERE position = 31");
    expect(damaged(await readAll(store))).toEqual([[31, 'damaged']]);
    const stream = (await readAll(store)).find(({ position }) => position === 31n)?.stream ?? '';
    expect(damaged(await readStream(store, stream))).toEqual([[31, 'damaged']]);
  });
});

test('without a chain, changed events and gaps in the revisions of a stream are found', async () => {
  const event = (position: bigint, revision: bigint, isDamaged = false): StoredEvent => ({
    ...newEvent(),
    ...{ stream: 'varve.note-1', position, revision },
    ...(isDamaged && { unreadable: { kind: 'damaged', reason: OTHER_CONTENT } }),
  });
  const batches = (async function* () {
    yield [event(10n, 0n), event(20n, 1n, true)];
    yield [event(30n, 4n), event(40n, 4n)];
  })();
  const place = { stream: 'varve.note-1' };
  expect(await Array.fromAsync(findDamageOf(batches))).toEqual([
    { ...place, position: 20n, revision: 1n, reason: OTHER_CONTENT },
    {
      ...place,
      position: 30n,
      revision: 4n,
      reason: 'revisions 2 to 3 before it are missing from its stream',
    },
    { ...place, position: 40n, revision: 4n, reason: 'its stream had reached revision 5 before it' },
  ]);
});
