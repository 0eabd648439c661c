import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { lockDataDirectory } from '../../shared/sqlite/lock-data-directory.ts';
import { needsReach, WITHOUT_ROOT } from '../support/other-user.ts';
import { runVarve } from '../support/run-varve.ts';
import { CONFORMANCE_SCHEMA, createDataDirectory, VARVE } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const NOBODY = 65_534;
/** Only root can give files to another user. */
const isRoot = process.getuid?.() === 0;

const BY_ROOT = isRoot
  ? needsReach()
  : { skip: true, meta: { skipReason: 'files of another user: only root makes them' } };

async function createData(): Promise<string> {
  const data = createDataDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  await openSqliteEventStore(join(data, 'events.db'), { space: 'varve' }).close();
  lockDataDirectory(data).release();
  return data;
}

const SERVE = ['serve', '--content-types', CONFORMANCE_SCHEMA, '--port', '0'];

async function expectFolderNamed(file: string, command: readonly string[]): Promise<void> {
  const data = await createData();
  rmSync(join(data, file), { force: true });
  mkdirSync(join(data, file));
  const { code, stderr } = await runVarve([...command, '--data', data]);
  expect(stderr).toContain(join(data, file));
  expect(stderr).toMatch(/folder/);
  expect(stderr).not.toMatch(/\n {4}at /);
  expect(code).toBe(1);
}

async function expectOwnerNamed(what: string): Promise<void> {
  const data = await createData();
  for (const path of [data, ...readdirSync(data).map((name) => join(data, name))])
    if (isRoot) chownSync(path, NOBODY, NOBODY);
  if (what !== 'the folder') chownSync(join(data, what), 0, 0);
  if (what === 'the folder') chmodSync(data, 0o500);
  onTestFinished(() => chmodSync(data, 0o700));
  const { status, stderr } = spawnSync(process.execPath, [...VARVE, 'drop', '--data', data], {
    encoding: 'utf8',
    ...WITHOUT_ROOT,
  });
  expect(stderr).toContain(data);
  expect(stderr).toContain('run varve as the user of the server, or correct the owner and mode');
  expect(status).toBe(1);
}

describe('a data directory', () => {
  it.each([['status', 'lock.db', ['status']] as const, ['serve', 'webhooks.db', SERVE] as const])(
    'with a folder in the place of a file is refused by %s: %s',
    (_command, file, command) => expectFolderNamed(file, command),
  );

  it('is not backed up to a folder whose name a file has, and the message says so', async () => {
    const data = await createData();
    const { code, stderr } = await runVarve(['backup', join(data, 'events.db'), '--data', data]);
    expect(stderr).toContain('a file has the name of a folder that Varve needs: name another folder');
    expect(code).toBe(1);
  });

  it('that a wrong setting names as a file keeps its mode', async () => {
    const data = await createData();
    const folder = join(data, 'folder');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    const log = ['--event-store', `sqlite:${folder}`];
    const { code, stderr } = await runVarve(['events', ...log, '--data', data]);
    expect(stderr).toContain('a folder has the name of a file that Varve needs');
    expect(code).toBe(1);
    expect(statSync(folder).mode & 0o777).toBe(0o755);
  });

  it.for(['the folder'])(
    'that this user may not write is refused with what to do: %s',
    needsReach(),
    expectOwnerNamed,
  );

  describe('of other kinds', takesMinutes('other files that cannot be used'), () => {
    it.each(['events.db', 'graph.db', 'generations.db', 'lock.json', 'lock-contents.db', 'access.key'])(
      'with a folder in the place of a file is refused by serve: %s',
      (file) => expectFolderNamed(file, SERVE),
    );

    it.each(['events.db', 'lock.db'])(
      'with a file of another user is refused with what to do: %s',
      BY_ROOT,
      expectOwnerNamed,
    );

    it('whose log another process has locked is named', async () => {
      const data = await createData();
      const db = new DatabaseSync(join(data, 'events.db'));
      onTestFinished(() => db.close());
      db.exec('BEGIN IMMEDIATE');
      const create = ['token', 'create', '--name', 'a', '--type', 'read-only'];
      const { code, stderr } = await runVarve([...create, '--data', data]);
      expect(stderr).toContain('database is locked: another process');
      expect(code).toBe(1);
    });
  });
});
