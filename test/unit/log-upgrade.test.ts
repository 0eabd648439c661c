import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { LOG_MIGRATIONS } from '../../shared/event-store/sqlite/log-schema.ts';
import { upgradeLog } from '../../shared/event-store/sqlite/open-log.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { migrate, migrating } from '../../shared/sqlite/migrate.ts';
import { newEvents, readAll } from '../contract/event-store-fixtures.ts';
import { createEarlierLog, EARLIER_INSERT } from '../support/earlier-log.ts';
import { mountSmallDisk, whyNoSmallDisk } from '../support/small-disk.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'varve-upgrade-'));
  file = join(folder, 'events.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const COLUMNS = 'position, stream, revision, id, type, data, metadata';
const rowsOf = (path: string): unknown[] => {
  const db = new DatabaseSync(path, { readOnly: true });
  const rows = db.prepare(`SELECT ${COLUMNS} FROM event ORDER BY position`).all();
  db.close();
  return rows;
};
const countChained = (path: string): number => {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(db.prepare('SELECT count(chain) AS n FROM event').get()?.['n']);
  } catch {
    return 0;
  } finally {
    db.close();
  }
};

/** Expects that every event is unchanged and in the hash chain, and that the log accepts more events. */
const expectUpgraded = async (path: string, rows: readonly unknown[]) => {
  expect(rowsOf(path)).toEqual(rows);
  const store = openSqliteEventStore(path, { space: 'varve' });
  expect(await Array.fromAsync(store.findDamage())).toEqual([]);
  await store.append('varve.note-new', 'none', newEvents(3));
  const log = await readAll(store);
  expect(log).toHaveLength(rows.length + 3);
  expect(new Set(log.map(({ chain }) => chain)).size).toBe(log.length);
  expect(await Array.fromAsync(store.findDamage())).toEqual([]);
  await store.close();
};

const upgradeInChild = (path: string) => {
  const script = join(import.meta.dirname, '../support/upgrade-log.ts');
  const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'inherit', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const ended = once(child, 'exit').then(([code]) => ({ code, errors }));
  return { child, ended };
};

describe('the upgrade of an earlier log', () => {
  test('gives every event its link, and keeps a copy that the earlier release can open and write', async () => {
    createEarlierLog(file).close();
    const rows = rowsOf(file);
    await upgradeLog(file);
    await expectUpgraded(file, rows);
    const copy = new DatabaseSync(`${file}.before-upgrade`);
    migrate(copy, LOG_MIGRATIONS.slice(0, 1));
    expect(copy.prepare(`SELECT ${COLUMNS} FROM event ORDER BY position`).all()).toEqual(rows);
    const row = [rows.length + 1, 'varve.note-1', 0, crypto.randomUUID(), 'note', '{}', '{}'];
    copy.prepare(EARLIER_INSERT).run(...row);
    copy.close();
    expect(readdirSync(folder).filter((name) => name.includes('upgrade'))).toEqual([
      'events.db.before-upgrade',
    ]);
  });

  test('makes inserts of an earlier process fail, while its reads continue; its release refuses to open the file', async () => {
    const earlier = createEarlierLog(file);
    onTestFinished(() => earlier.close());
    const insert = earlier.prepare(EARLIER_INSERT);
    const append = (position: number) =>
      insert.run(position, 'varve.note-1', position, crypto.randomUUID(), 'note', '{}', '{}');
    append(56);
    const rows = rowsOf(file);
    const db = new DatabaseSync(file);
    for (const _ of migrating(db, LOG_MIGRATIONS)) {
      expect(() => append(1_000)).toThrow(/upgraded by a newer release of Varve/);
      expect(earlier.prepare('SELECT count(*) AS n FROM event').get()).toEqual({ n: rows.length });
    }
    db.close();
    await expectUpgraded(file, rows);
    expect(() => migrate(earlier, LOG_MIGRATIONS.slice(0, 1))).toThrow(
      /its schema version is \d+, this program knows versions up to 1: it was written by a newer version of Varve/,
    );
  });

  test(
    'continues where it was killed, after any number of kills',
    takesMinutes('upgrades that are killed'),
    async () => {
      const more = 15_000;
      createEarlierLog(file, more).close();
      const rows = rowsOf(file);
      let kills = 0;
      for (let seen = -1; ; ) {
        const { child, ended } = upgradeInChild(file);
        let isOver = false;
        void ended.then(() => {
          isOver = true;
        });
        while (!isOver && countChained(file) <= seen) await delay(1);
        seen = countChained(file);
        if (isOver) break;
        kills += 1;
        child.kill('SIGKILL');
        await ended;
      }
      expect(kills).toBeGreaterThan(1);
      await upgradeLog(file);
      await expectUpgraded(file, rows);
      expect(rowsOf(`${file}.before-upgrade`)).toEqual(rows);
    },
  );

  test(
    'by three processes at the same time is done once',
    takesMinutes('upgrades by several processes'),
    async () => {
      createEarlierLog(file, 15_000).close();
      const rows = rowsOf(file);
      const results = await Promise.all([1, 2, 3].map(() => upgradeInChild(file).ended));
      expect(results).toEqual(Array(3).fill({ code: 0, errors: '' }));
      await expectUpgraded(file, rows);
      expect(rowsOf(`${file}.before-upgrade`)).toEqual(rows);
    },
  );

  test('replaces a half-written copy, which a killed process left', async () => {
    createEarlierLog(file, 2_000).close();
    const rows = rowsOf(file);
    const steps = migrating(new DatabaseSync(file), LOG_MIGRATIONS);
    steps.next();
    writeFileSync(`${file}.before-upgrade.part`, 'half of a copy');
    await upgradeLog(file);
    await expectUpgraded(file, rows);
    expect(rowsOf(`${file}.before-upgrade`)).toEqual(rows);
    expect(existsSync(`${file}.before-upgrade.part`)).toBe(false);
  });

  test('changes nothing if the copy of an earlier upgrade exists', async () => {
    createEarlierLog(file).close();
    createEarlierLog(`${file}.before-upgrade`).close();
    await expect(upgradeLog(file)).rejects.toThrow(/move that copy away first; nothing was changed/);
    const earlier = new DatabaseSync(file);
    migrate(earlier, LOG_MIGRATIONS.slice(0, 1));
    earlier.close();
    rmSync(`${file}.before-upgrade`);
    await upgradeLog(file);
  });

  test(
    'that finds the disk full in the middle continues when there is space',
    takesMinutes('upgrades on a full disk'),
    async () => {
      createEarlierLog(file, 20_000).close();
      const rows = rowsOf(file);
      const db = new DatabaseSync(file);
      const steps = migrating(db, LOG_MIGRATIONS);
      while (countChained(file) === 0) steps.next();
      const pages = Number(db.prepare('PRAGMA page_count').get()?.['page_count']);
      db.exec(`PRAGMA max_page_count = ${pages + 10}`);
      expect(() => [...steps]).toThrow(/full/);
      db.close();
      expect(countChained(file)).toBeLessThan(rows.length);
      await upgradeLog(file);
      await expectUpgraded(file, rows);
    },
  );
});

const noSmallDisk = whyNoSmallDisk();
test(
  'a log is not upgraded if the copy does not fit on the disk, and stays unchanged',
  noSmallDisk === undefined ? {} : { skip: true, meta: { skipReason: noSmallDisk } },
  async () => {
    const disk = mountSmallDisk(24);
    if (disk === undefined) throw new Error('no disk');
    onTestFinished(() => disk.remove());
    const path = join(disk.path, 'events.db');
    createEarlierLog(path, 5_000).close();
    const rows = rowsOf(path);
    disk.fill(2_000_000);
    await expect(upgradeLog(path)).rejects.toThrow(/MB are free: free some space first; nothing was changed/);
    expect([rowsOf(path).length, existsSync(`${path}.before-upgrade`)]).toEqual([rows.length, false]);
    disk.empty();
    await upgradeLog(path);
    await expectUpgraded(path, rows);
  },
);
