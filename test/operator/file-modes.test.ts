import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Creates a folder that everyone may read, like one that was created by hand or by a container. */
function openFolder(): string {
  const parent = createDataDirectory();
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, 'open');
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  return folder;
}

/** Returns the names of files that other users than their owner may read or write. */
function openFiles(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  expect(files.length).toBeGreaterThan(0);
  return files.flatMap(({ parentPath, name }) => {
    const mode = statSync(join(parentPath, name)).mode & 0o777;
    return mode === 0o600 ? [] : [`${name} ${mode.toString(8)}`];
  });
}

async function succeed(...args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await runVarve(args);
  expect(code, stdout + stderr).toBe(0);
}

it('lets only their owner read its files, for any directory and umask', async () => {
  const umask = process.umask(0);
  onTestFinished(() => void process.umask(umask));
  const data = openFolder();
  const server = await startServer({ data });
  onTestFinished(() => server.dispose());
  const ask = createAsk(server.url);
  const form = new FormData();
  form.append('files', new Blob(['text'], { type: 'text/plain' }), 'text.txt');
  expect((await ask('/api/upload', { method: 'POST', body: form })).status).toBe(201);
  await succeed('rebuild', '--graph', '--data', data);
  const copies = openFolder();
  await succeed('backup', join(copies, 'backup'), '--data', data);
  await succeed('export', join(copies, 'log.jsonl'), '--data', data);
  await succeed('restore', join(copies, 'backup'), '--data', join(copies, 'restored'));
  expect(readdirSync(data)).toEqual(
    expect.arrayContaining(['events.db-wal', 'events.db-shm', 'graph-2.db-wal']),
  );
  expect(openFiles(data)).toEqual([]);
  expect(openFiles(copies)).toEqual([]);
});

it(
  'removes access from files that an earlier release left open to others',
  takesMinutes('modes of an earlier release'),
  async () => {
    const data = openFolder();
    const first = await startServer({ data });
    onTestFinished(() => first.dispose());
    // SQLite's -wal and -shm files stay after a kill.
    await first.stop('SIGKILL');
    for (const name of readdirSync(data, { recursive: true })) {
      const path = join(data, String(name));
      if (statSync(path).isFile()) chmodSync(path, 0o644);
    }
    expect(openFiles(data)).toContain('events.db-wal 644');
    const second = await startServer({ data });
    onTestFinished(() => second.dispose());
    expect(openFiles(data)).toEqual([]);
  },
);
