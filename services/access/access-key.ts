import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tokenStatus } from '../../shared/access/access-state.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { makeFolder } from '../../shared/make-folder.ts';
import { restrictToOwner } from '../../shared/private-file.ts';
import { readAccessUpTo } from './access-control.ts';

const FILE = 'access.key';
const BYTES = 32;

/**
 * Returns the key that hashes tokens. All processes of one log must share it, and identify each other by it. The key is a setting
 * (base64url of at least 32 bytes) or a file in the folder of the log. A missing file is created, readable by its owner only. Throws a
 * message if the file is not a key, or if the log has no folder.
 */
export function readAccessKey(folder: string | undefined, given: string | undefined): Buffer {
  if (given !== undefined) return decode(given, 'VARVE_ACCESS_KEY');
  if (folder === undefined) {
    throw new Error(
      'a log on a server needs the same --access-key (VARVE_ACCESS_KEY) in every process: 32 bytes or more, base64url',
    );
  }
  const file = join(folder, FILE);
  const text = readOrCreate(file, folder);
  restrictToOwner(file);
  return decode(text, file);
}

export type AccessKeyOptions = {
  readonly log: EventStore;
  readonly space: string;
  /** Folder of the log's file; undefined if the log is on a server. */
  readonly folder: string | undefined;
  /** base64url */
  readonly given: string | undefined;
};

/**
 * Returns the key of readAccessKey. Rejects with a message if the key is missing while the log has active tokens, because their hashes do
 * not match a new key.
 */
export async function openAccessKey({ log, space, folder, given }: AccessKeyOptions): Promise<Buffer> {
  if (given === undefined && folder !== undefined && !existsSync(join(folder, FILE))) {
    const { tokens } = await readAccessUpTo(log, space);
    const active = [...tokens.values()].filter((token) => tokenStatus(token, Date.now()) === 'active');
    if (active.length > 0) {
      throw new Error(
        `${join(folder, FILE)} is missing, and the log has ${active.length} access tokens that were made with it (${active[0]?.name}): put the file back from a backup, or give the key as VARVE_ACCESS_KEY. If it is lost, revoke every token with varve token revoke; then a new key is made`,
      );
    }
  }
  return readAccessKey(folder, given);
}

/** Returns the key of readAccessKey, and changes nothing; undefined if there is none. */
export function lookAtAccessKey(folder: string | undefined, given: string | undefined): Buffer | undefined {
  if (given !== undefined) return decode(given, 'VARVE_ACCESS_KEY');
  const file = folder === undefined ? undefined : join(folder, FILE);
  return file === undefined || !existsSync(file) ? undefined : decode(readText(file), file);
}

function readOrCreate(file: string, folder: string): string {
  try {
    return readText(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  makeFolder(folder);
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, randomBytes(BYTES).toString('base64url'), { mode: 0o600, flag: 'wx' });
  try {
    // `linkSync` never replaces a file: if two processes make a key at once, both use the first one.
    linkSync(fresh, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  return readText(file);
}

/** Reads the file. The system's error for a folder does not name it. */
function readText(file: string): string {
  if (statSync(file).isDirectory())
    throw new Error(`${file} is a folder, not a key: put the key back from a backup`);
  return readFileSync(file, 'utf8');
}

function decode(text: string, where: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64url');
  if (/^[A-Za-z0-9_-]+$/.test(text.trim()) && key.length >= BYTES) return key;
  throw new Error(`${where} is not a key: expected at least ${BYTES} bytes as base64url`);
}
