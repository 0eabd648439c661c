import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  announceDataDirectory,
  DataDirectoryInUse,
  lockContents,
  lockDataDirectory,
} from '../../shared/sqlite/lock-data-directory.ts';

let parent: string;
let directory: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'varve-lock-'));
  directory = join(parent, 'deep', 'data');
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const refusal = (): DataDirectoryInUse => {
  try {
    lockDataDirectory(directory).release();
  } catch (error) {
    if (error instanceof DataDirectoryInUse) return error;
    throw error;
  }
  throw new Error('the lock was given twice');
};

test('makes the directory for its owner only, and lets one process lock it', () => {
  const lock = lockDataDirectory(directory);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(refusal().holder).toEqual(lock.holder);
  lock.release();
  lock.release();
  expect(existsSync(join(directory, 'lock.json'))).toBe(false);
  lockDataDirectory(directory).release();
});

test('names the process that has the lock, and is free when that process is killed', async () => {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, '../support/hold-data-directory.ts'), directory],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  try {
    await once(child.stdout, 'data');
    const refused = refusal();
    expect(refused.message).toContain(`${directory} is in use by process ${child.pid}, started at 20`);
    expect(refused.holder?.pid).toBe(child.pid);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  const lock = lockDataDirectory(directory);
  expect(lock.holder.pid).toBe(process.pid);
  expect(refusal().holder?.pid).toBe(process.pid);
  lock.release();
});

test('writes the file that names the holder again if somebody removes it, and survives a removed directory', async () => {
  const lock = announceDataDirectory(directory, { address: 'http://127.0.0.1:1', secret: 'one' });
  rmSync(join(directory, 'lock.json'));
  expect(refusal().holder).toBeUndefined();
  await expect.poll(() => refusal().holder, { timeout: 10_000 }).toEqual(lock.holder);
  rmSync(directory, { recursive: true });
  await delay(1_500);
  expect(existsSync(directory)).toBe(false);
  lock.release();
});

test('lets the worker of the holder open the files, one process at a time', async () => {
  const announced = announceDataDirectory(directory);
  const worker = lockContents(directory);
  announced.release();
  // The holder was killed, and its worker is still running.
  expect(() => lockDataDirectory(directory, 20)).toThrow('is in use by another process');
  expect(existsSync(join(directory, 'lock.json'))).toBe(false);
  worker.release();
  lockDataDirectory(directory, 20).release();
});
