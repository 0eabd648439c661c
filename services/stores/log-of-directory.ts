import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { defined } from '../../shared/defined.ts';
import { restrictToOwner } from '../../shared/private-file.ts';
import { replaceFile } from '../../shared/replace-file.ts';
import { isDiskFull } from '../../shared/sqlite/failures.ts';
import { sqliteFile } from './open-event-store.ts';

/** The log that a data directory belongs to, by the settings of its server. */
export type LogOfDirectory = {
  /** Address of the log; absent: a file in the directory. */
  readonly eventStore?: string | undefined;
  readonly space: string;
};

const FILE = 'log.json';
const RECORD = z.object({ eventStore: z.string().optional(), space: z.string() });

/**
 * Records the log of a data directory, for commands that are given only the directory. Only the owner may read the record, because an
 * address may contain a password. On a full disk the record is written at a later start.
 */
export function recordLogOfDirectory(data: string, { eventStore, space }: LogOfDirectory): void {
  const record = { ...defined({ eventStore: eventStore && absolute(eventStore) }), space };
  const file = join(data, FILE);
  const text = `${JSON.stringify(record)}\n`;
  if (textOf(file) === text) {
    restrictToOwner(file);
    return;
  }
  try {
    replaceFile(file, text);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

/** Returns the recorded log of a data directory; undefined if no server has recorded one. */
export function readLogOfDirectory(data: string): LogOfDirectory | undefined {
  try {
    return RECORD.safeParse(JSON.parse(textOf(join(data, FILE)) ?? '')).data;
  } catch {
    return undefined;
  }
}

/** Returns whether two records name one log. Two addresses of a server may differ in credentials and parameters. */
export function isSameLog(data: string, one: LogOfDirectory, other: LogOfDirectory): boolean {
  return one.space === other.space && addressOf(data, one) === addressOf(data, other);
}

/** Returns a log's name for a message, without a password. */
export function presentLogOfDirectory(data: string, log: LogOfDirectory): string {
  return `${addressOf(data, log)} with --space ${log.space}`;
}

function addressOf(data: string, { eventStore }: LogOfDirectory): string {
  const address = eventStore ?? `sqlite:${join(data, 'events.db')}`;
  const file = sqliteFile(address);
  if (file !== undefined) return `sqlite:${real(file)}`;
  return address
    .toLowerCase()
    .replace(/\?.*$/, '')
    .replace(/:\/\/[^@/]*@/, '://')
    .replace(/\/$/, '');
}

function absolute(address: string): string {
  const file = sqliteFile(address);
  return file === undefined ? address : `sqlite:${resolve(file)}`;
}

/** Returns the path without symbolic links. The file may be missing. */
function real(file: string): string {
  try {
    return join(realpathSync(dirname(resolve(file))), basename(file));
  } catch {
    return resolve(file);
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
