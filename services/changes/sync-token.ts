import { unwrapBigint, wrapBigint } from '../../shared/json.ts';
import type { SortPosition } from '../../shared/read-index/read-index.ts';
import { RequestError } from '../../shared/request-error.ts';
import { isSameText, signText } from '../../shared/text-digest.ts';
import type { HistoryName } from './history-name.ts';

/** Progress of a reader of the feed. */
export type SyncPlace = {
  /** The reader has all changes up to this position. */
  readonly position: bigint;
  /** Set while the documents of the first sync are listed. */
  readonly listing?: ListingPlace;
};

export type ListingPlace = {
  /** Number of the row set, see `rowSetsOf`. */
  readonly set: number;
  /** Row after which the list continues; null: the first one. */
  readonly after: SortPosition | null;
};

/** Key of the signature, names of the log's history, and name of the caller's rights and selection. */
export type SyncScope = {
  readonly key: Uint8Array;
  readonly history: HistoryName;
  readonly selection: string;
};

const FORM = /^(\d{1,20})(?:\.([A-Za-z0-9_-]+))?\.([A-Za-z0-9_-]{22})$/;

/** Writes a token: the position, the place in the first sync, and a signature that binds both to the scope. */
export async function writeSyncToken(scope: SyncScope, { position, listing }: SyncPlace): Promise<string> {
  const parts = [String(position)];
  if (listing !== undefined)
    parts.push(Buffer.from(JSON.stringify([listing.set, listing.after], wrapBigint)).toString('base64url'));
  const payload = parts.join('.');
  return `${payload}.${await sign(scope, position, payload)}`;
}

/** Rejects with RequestError: 400 for a text of another form, 410 for a token of another log, caller or selection. */
export async function readSyncToken(scope: SyncScope, token: string): Promise<SyncPlace> {
  const [, digits, listing, signature = ''] = FORM.exec(token) ?? [];
  if (digits === undefined) {
    throw new RequestError('invalid-sync-token', 'Invalid sync token', {
      source: 'query',
      param: 'since',
      found: token,
      accepted: "'meta.next' of an answer, or nothing to begin",
    });
  }
  const position = BigInt(digits);
  if (!isSameText(signature, await sign(scope, position, token.slice(0, -signature.length - 1))))
    throw syncTokenGone('it was made for other rights, other parameters, other content types or another log');
  if (listing === undefined) return { position };
  const text = Buffer.from(listing, 'base64url').toString();
  const [set, after] = JSON.parse(text, unwrapBigint) as [number, SortPosition | null];
  return { position, listing: { set, after } };
}

/** Returns the error for a token that is no longer valid. */
export function syncTokenGone(reason: string): RequestError {
  return new RequestError(
    'sync-token-gone',
    `The sync token is no longer valid: ${reason}. Begin again without 'since'`,
    { source: 'query', param: 'since', accepted: 'nothing, to begin again' },
  );
}

async function sign(
  { key, history, selection }: SyncScope,
  position: bigint,
  payload: string,
): Promise<string> {
  return signText(key, JSON.stringify([await history(position), selection, payload]));
}
