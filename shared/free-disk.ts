import { randomFillSync } from 'node:crypto';
import { rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { restrictToOwner } from './private-file.ts';

const LOOK_EVERY_MS = 1_000;
/** Smaller changes are ignored, because SQLite grows files by pages. */
const NOTABLE_BYTES = 64 * 1024;

/** Returns the bytes that this process may still write to a file system. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Resolves as soon as the file system has notably more free space than now, after `atMostMs`, or when `signal` is aborted. */
export async function waitForFreeDisk(folder: string, atMostMs: number, signal: AbortSignal): Promise<void> {
  const before = freeBytes(folder);
  for (let waited = 0; waited < atMostMs && !signal.aborted; waited += LOOK_EVERY_MS) {
    await delay(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
    if (freeBytes(folder) >= before + NOTABLE_BYTES) return;
  }
}

const RESERVE = 'reserve';
/** Bytes that a start writes before it can answer reads: locks, and data that SQLite needs to read a database. */
const RESERVED_BYTES = 1024 * 1024;

/** Reserves disk space that a start on a full disk can use. Has no effect if the disk is already full. */
export function reserveDisk(folder: string): void {
  const file = join(folder, RESERVE);
  restrictToOwner(file);
  if (statSync(file, { throwIfNoEntry: false })?.size === RESERVED_BYTES) return;
  try {
    // The bytes are random, because zeros need no space on file systems that compress.
    writeFileSync(file, randomFillSync(Buffer.alloc(RESERVED_BYTES)), { mode: 0o600 });
  } catch {
    rmSync(file, { force: true });
  }
}

/** Bytes for the first writes of a process that takes the place of another one. */
const NEEDED_BYTES = 128 * 1024;

/** Throws a message if the file system is full, also without the reserved space, which it frees then. */
export function requireFreeDisk(folder: string): void {
  const isFull = () => freeBytes(folder) < NEEDED_BYTES;
  if (isFull()) freeReservedDisk(folder);
  if (isFull()) throw new Error(`the disk of ${folder} is full: free some space, and repeat the command`);
}

/** Frees the reserved space. Returns false if there was none. */
export function freeReservedDisk(folder: string): boolean {
  const file = join(folder, RESERVE);
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return false;
  rmSync(file, { force: true });
  return true;
}
