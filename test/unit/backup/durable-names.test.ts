import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { restoreBackup } from '../../../services/backup/restore-backup.ts';
import { writeBackup } from '../../../services/backup/write-backup.ts';
import { openSqliteEventStore } from '../../../shared/event-store/sqlite/sqlite-event-store.ts';

const CONTENT = 'a picture';
const HASH = createHash('sha256').update(CONTENT).digest('hex');
const ASSET = `assets/${HASH.slice(0, 2)}/${HASH}`;

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-durable-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Records which files of a folder have durable names, now and when `last` appeared. */
async function recordDurable(folder: string, last: string) {
  const durable = new Set<string>();
  let before: ReadonlySet<string> | undefined;
  const handle = await open('.', 'r');
  const methods = Object.getPrototypeOf(handle) as { sync(): Promise<void> };
  await handle.close();
  const { sync } = methods;
  const spy = vi.spyOn(methods, 'sync').mockImplementation(async function (this: FileHandle) {
    const { ino } = await this.stat();
    if (existsSync(join(folder, last))) before ??= new Set(durable);
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
      if (statSync(dirname(join(folder, path))).ino === ino) durable.add(path);
    return sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  return { durable, before: () => before ?? new Set<string>() };
}

async function newSource(): Promise<string> {
  const data = newFolder();
  mkdirSync(dirname(join(data, ASSET)), { recursive: true });
  writeFileSync(join(data, ASSET), CONTENT);
  writeFileSync(join(data, 'access.key'), 'k'.repeat(43));
  await openSqliteEventStore(join(data, 'events.db'), { space: 'varve' }).close();
  return data;
}

async function backUp(data: string, folder: string): Promise<void> {
  await writeBackup(folder, {
    space: 'varve',
    logFile: join(data, 'events.db'),
    graphFile: join(data, 'graph.db'),
    assets: { folder: join(data, 'assets') },
    keyFile: join(data, 'access.key'),
    version: '0',
    now: new Date(0),
  });
}

it('makes the names of the files of a backup durable before the manifest names them', async () => {
  const folder = join(newFolder(), 'backup');
  const data = await newSource();
  const { durable, before } = await recordDurable(dirname(folder), 'backup/manifest.json');
  await backUp(data, folder);
  expect([...before()]).toEqual(
    expect.arrayContaining(['backup', 'backup/events.db', 'backup/access.key', `backup/${ASSET}`]),
  );
  expect([...durable]).toContain('backup/manifest.json');
});

it('makes the names of restored files durable before the log has its name', async () => {
  const folder = join(newFolder(), 'backup');
  await backUp(await newSource(), folder);
  const data = newFolder();
  const { durable, before } = await recordDurable(data, 'events.db');
  await restoreBackup(folder, {
    data,
    logFile: join(data, 'events.db'),
    assetsFolder: join(data, 'assets'),
    openLog: async (file) => openSqliteEventStore(file, { space: 'varve' }),
    onEvents: () => {},
    erase: async () => false,
  });
  expect([...before()]).toEqual(expect.arrayContaining(['access.key', 'graph.db', 'assets', ASSET]));
  expect([...durable]).toContain('events.db');
});
