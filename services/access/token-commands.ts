import { randomInt, randomUUID } from 'node:crypto';
import { type AccessEvent, accessStream, type TokenType } from '../../shared/access/access-events.ts';
import { type AccessState, type Token, tokenStatus } from '../../shared/access/access-state.ts';
import type { Right } from '../../shared/access/rights.ts';
import type { EventMetadata, EventStore } from '../../shared/event-store/event-store.ts';
import { EVENT_VERSIONS } from '../../shared/events/event-versions.ts';
import { RequestError } from '../../shared/request-error.ts';
import { readAccess } from './access-control.ts';
import { hashSecret, newSecret } from './token-secret.ts';

export type TokenRequest = {
  readonly name: string;
  readonly type: TokenType;
  /** Of custom tokens. */
  readonly allow: readonly Right[];
  readonly drafts: boolean;
  /** ISO 8601; null: never. */
  readonly expiresAt: string | null;
};

/** `secret` is shown now and never again. `position`: from when on it counts. */
export type CreatedToken = { readonly token: Token; readonly secret: string; readonly position: bigint };

export type TokenCommands = {
  /** Throws RequestError (400) when the name is taken by a token in force. */
  create(request: TokenRequest): Promise<CreatedToken>;
  /** By id or name. Throws RequestError (404) when there is no such token in force. */
  revoke(idOrName: string): Promise<{ readonly token: Token; readonly position: bigint }>;
  /** What callers without a token may do. Appends nothing when that is so already. */
  setPublic(allow: readonly Right[]): Promise<{ readonly position: bigint | undefined }>;
  list(): Promise<readonly Token[]>;
};

export type TokenCommandsOptions = {
  readonly log: EventStore;
  readonly space: string;
  readonly key: Buffer;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** On whose behalf a command runs. */
  readonly author: () => Pick<EventMetadata, 'actor' | 'correlationId' | 'traceId'>;
};

const ATTEMPTS = 10;
const ID_LENGTH = 10;
const ID_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** The kinds of command by what they lead to. */
const COMMANDS: Readonly<Record<AccessEvent['type'], string>> = {
  'token-created': 'create-token',
  'token-revoked': 'revoke-token',
  'public-rights-set': 'set-public-rights',
};

/** Commands on the access stream, which any process may write: each is decided anew when another came between. */
export function createTokenCommands({ log, space, key, now, author }: TokenCommandsOptions): TokenCommands {
  const commit = async <Result>(
    decide: (state: AccessState) => readonly [AccessEvent | undefined, Result],
  ) => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const state = await readAccess(log, space);
      const [event, result] = decide(state);
      if (event === undefined) return { result, position: undefined };
      const metadata = {
        schemaVersion: EVENT_VERSIONS[event.type],
        at: new Date(now()).toISOString(),
        epoch: 0,
        ...author(),
        via: COMMANDS[event.type],
      };
      const appended = await log.append(accessStream(space), state.revision ?? 'none', [
        { id: randomUUID(), ...event, metadata },
      ]);
      if (appended.kind === 'appended') return { result, position: appended.position };
    }
    throw new RequestError('rights-contended', 'Access rights are being changed by others, try again');
  };
  return {
    async create(request) {
      const secret = newSecret();
      const id = newTokenId();
      const { position } = await commit((state) => {
        refuseTakenName(state, request.name, now());
        const { type, ...rest } = request;
        const data = { id, ...rest, tokenType: type, hash: hashSecret(key, secret) };
        return [{ type: 'token-created', data }, undefined];
      });
      const token = (await readAccess(log, space)).tokens.get(id);
      if (token === undefined || position === undefined) throw new Error(`token ${id} was not stored`);
      return { token, secret, position };
    },
    async revoke(idOrName) {
      const { result, position } = await commit((state) => {
        const token = findInForce(state, idOrName);
        return [{ type: 'token-revoked', data: { id: token.id } }, token];
      });
      return { token: result, position: position ?? 0n };
    },
    async setPublic(allow) {
      const { position } = await commit((state) => {
        const event: AccessEvent = { type: 'public-rights-set', data: { allow } };
        return [isPublic(state, allow) ? undefined : event, undefined];
      });
      return { position };
    },
    async list() {
      return [...(await readAccess(log, space)).tokens.values()];
    },
  };
}

function newTokenId(): string {
  return Array.from({ length: ID_LENGTH }, () => ID_CHARACTERS[randomInt(ID_CHARACTERS.length)]).join('');
}

function refuseTakenName(state: AccessState, name: string, now: number): void {
  const taken = [...state.tokens.values()].some(
    (token) => token.name === name && tokenStatus(token, now) === 'active',
  );
  if (!taken) return;
  throw new RequestError('token-name-taken', `There is a token called "${name}": revoke it first`, {
    path: 'name',
    found: name,
  });
}

function findInForce(state: AccessState, idOrName: string): Token {
  const inForce = [...state.tokens.values()].filter((token) => token.revokedAt === null);
  const token =
    inForce.find(({ id }) => id === idOrName) ?? inForce.findLast(({ name }) => name === idOrName);
  if (token !== undefined) return token;
  throw new RequestError('token-not-found', `There is no token "${idOrName}" in force`);
}

function isPublic({ publicRights, development }: AccessState, allow: readonly Right[]): boolean {
  if (development || publicRights.kind !== 'custom') return false;
  return (
    publicRights.allowed.size === allow.length && allow.every((right) => publicRights.allowed.has(right))
  );
}
