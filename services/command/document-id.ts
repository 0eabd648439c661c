import { hash, randomFillSync } from 'node:crypto';
import type { CommandIdentity } from '../../shared/event-store/event-store.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { CommandEnvironment } from './environment.ts';

const LENGTH = 24;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const LETTERS = 26;

/** Returns a new documentId: 24 characters of `[a-z0-9]`, a letter first, so that it never looks like a row id. */
export function randomDocumentId(): string {
  if (used + LENGTH > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += LENGTH;
  return documentIdOf(pool.subarray(used - LENGTH, used));
}

/** Random bytes for many ids, because a system call costs more than the rest of making an id. */
const pool = new Uint8Array(LENGTH * 128);
let used = pool.length;

/** Returns the same documentId for the same `parts`, so that a repeated import finds its own documents. */
export function derivedDocumentId(...parts: readonly string[]): string {
  return documentIdOf(hash('sha256', JSON.stringify(parts), 'buffer'));
}

/** Returns the id of a document that a command creates. A repeated command gets the same id. */
export function newDocumentId(
  environment: Pick<CommandEnvironment, 'space' | 'newDocumentId'>,
  type: Uid,
  identity: CommandIdentity | undefined,
): string {
  if (identity === undefined) return environment.newDocumentId();
  return derivedDocumentId(environment.space, type, identity.id);
}

function documentIdOf(bytes: Uint8Array): string {
  let id = '';
  for (let i = 0; i < LENGTH; i++)
    id += ALPHABET.charAt((bytes[i] ?? 0) % (i === 0 ? LETTERS : ALPHABET.length));
  return id;
}
