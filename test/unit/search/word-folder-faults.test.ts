import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createWordFolder } from '../../../services/read-side/word-folder.ts';
import { mountSmallDisk, type SmallDisk } from '../../support/small-disk.ts';
import { readAtOnce } from '../../support/word-memory.ts';

/** Size of stored words, large enough to be written in many steps. */
const BYTES = 8 * 2 ** 20;
const HALF_A_MEGABYTE = 500_000;
const MOST_KILLS = 20;

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'varve-words-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function smallDisk(skip: (reason: string) => never): SmallDisk {
  const disk = mountSmallDisk(1) ?? skip('this process may not mount a tmpfs');
  onTestFinished(disk.remove);
  return disk;
}

/** Starts another process that stores words repeatedly. `kill` resolves to its id. */
function startWriter(folder: string, byte: number) {
  const script = join(import.meta.dirname, '../../support/write-words.ts');
  const child = spawn(process.execPath, [script, folder, String(byte), String(BYTES)], { stdio: 'ignore' });
  const kill = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    return child.pid ?? 0;
  };
  onTestFinished(async () => {
    await kill();
  });
  return { kill };
}

/** Returns the byte of which the stored words consist, or undefined if they are incomplete. */
function storedByte(folder: string): number | undefined {
  const words = readAtOnce(createWordFolder(folder), 'words');
  if (words === undefined) return undefined;
  const [byte = 0] = words;
  expect(Buffer.alloc(BYTES, byte).equals(words)).toBe(true);
  return byte;
}

const partsOf = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.part'));

it('shows only complete files while two processes store the same words', async () => {
  const folder = createFolder();
  for (const byte of [1, 2]) startWriter(folder, byte);
  const seen = new Set<number>();
  for (let reads = 0; seen.size < 2 || reads < 30; reads++) {
    const byte = storedByte(folder);
    if (byte !== undefined) seen.add(byte);
    await delay(5);
  }
});

it('keeps complete files when a process is killed during a save, and removes partial ones', async () => {
  const folder = createFolder();
  let dead = 0;
  for (let kills = 1; partsOf(folder).length === 0; kills++) {
    expect(kills).toBeLessThan(MOST_KILLS);
    const writer = startWriter(folder, kills);
    while (storedByte(folder) !== kills) await delay(1);
    await delay(kills % 7);
    dead = await writer.kill();
    expect(storedByte(folder)).toBe(kills);
  }
  expect(partsOf(folder)).toEqual([`words.${dead}.part`]);
  await createWordFolder(folder).write('others', new Uint8Array(1));
  expect(readdirSync(folder).sort()).toEqual(['others', 'words']);
});

it('keeps stored words on a full disk, and stores others when there is space', async ({ skip }) => {
  const disk = smallDisk(skip);
  const files = createWordFolder(disk.path);
  await files.write('words', new Uint8Array(HALF_A_MEGABYTE).fill(1));
  disk.fill(100_000);
  await files.write('words', new Uint8Array(HALF_A_MEGABYTE).fill(2));
  expect(readAtOnce(files, 'words')).toEqual(new Uint8Array(HALF_A_MEGABYTE).fill(1));
  expect(partsOf(disk.path)).toEqual([]);
  disk.empty();
  await files.write('words', new Uint8Array(HALF_A_MEGABYTE).fill(2));
  expect(readAtOnce(files, 'words')).toEqual(new Uint8Array(HALF_A_MEGABYTE).fill(2));
});

it('reads words, and stores none in a read-only folder', async ({ skip }) => {
  const disk = smallDisk(skip);
  await createWordFolder(disk.path).write('words', new Uint8Array([1]));
  disk.makeReadOnly();
  const files = createWordFolder(disk.path);
  await files.write('words', new Uint8Array([2]));
  expect([files.has('words'), readAtOnce(files, 'words')]).toEqual([true, new Uint8Array([1])]);
});
