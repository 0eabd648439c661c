import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createWordFolder } from '../../../services/read-side/word-folder.ts';
import { readAtOnce } from '../../support/word-memory.ts';

const NAME = 'api::article.article.published';
let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'varve-words-')), 'words');
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

it('reads the last file of another process, and only its owner can', async () => {
  await createWordFolder(folder).write(NAME, Buffer.from('first'));
  await createWordFolder(folder).write(NAME, Buffer.from('second'));
  const files = createWordFolder(folder);
  expect([files.has(NAME), Buffer.from(readAtOnce(files, NAME) ?? []).toString()]).toEqual([true, 'second']);
  expect([files.has('other'), readAtOnce(files, 'other')]).toEqual([false, undefined]);
  const [name = ''] = readdirSync(folder);
  expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
});

it('reads a file to its end, even if another process replaces it in the meantime', async () => {
  const [before, after] = [1, 2].map((byte) => new Uint8Array(3 * 2 ** 20 + byte).fill(byte));
  const files = createWordFolder(folder);
  await files.write(NAME, before as Uint8Array);
  const reading = files.read(NAME);
  for (let read = 0; read < 2; read++) expect(reading.next().done).toBe(false);
  await createWordFolder(folder).write(NAME, after as Uint8Array);
  let step = reading.next();
  while (step.done !== true) step = reading.next();
  const isEqual = (one = new Uint8Array(), other = new Uint8Array()) => Buffer.from(one).equals(other);
  expect(isEqual(step.value, before)).toBe(true);
  expect(isEqual(readAtOnce(files, NAME), after)).toBe(true);
});

it('removes partial files of killed processes, and none of running ones', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  mkdirSync(folder);
  const parts = [pid, process.ppid].map((id) => `other.${id}.part`);
  for (const part of parts) writeFileSync(join(folder, part), 'half');
  const files = createWordFolder(folder);
  await Promise.all([files.write(NAME, Buffer.from('one')), files.write('two', Buffer.from('two'))]);
  expect(readdirSync(folder).toSorted()).toEqual([
    'api--article.article.published',
    `other.${process.ppid}.part`,
    'two',
  ]);
});

it('stores nothing if the folder cannot be written', async () => {
  writeFileSync(folder, 'no folder');
  const files = createWordFolder(folder);
  await files.write(NAME, Buffer.from('one'));
  expect(readAtOnce(files, NAME)).toBe(undefined);
});
