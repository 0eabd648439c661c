import type { AccessEvent } from '../../shared/access/access-events.ts';
import { type AccessState, type Token, tokenStatus } from '../../shared/access/access-state.ts';
import type { Right } from '../../shared/access/rights.ts';
import { randomId } from '../../shared/random-id.ts';
import { RequestError } from '../../shared/request-error.ts';
import { readAccess } from './access-control.ts';
import { type AccessCommitOptions, createAccessCommit } from './commit-access.ts';
import { hashSecret, newSecret } from './token-secret.ts';

export type TokenRequest = Pick<Token, 'name' | 'type' | 'expiresAt'> & {
  /** Rights of a custom token. */
  readonly allow: readonly Right[];
  readonly drafts: boolean;
  /** The right to see earlier versions. Absent: without it. */
  readonly history?: boolean;
};

/** A new token. Its secret is shown only once. The token is valid from `position` on. */
export type CreatedToken = { readonly token: Token; readonly secret: string; readonly position: bigint };

export type TokenCommands = {
  /**
   * Creates a token. Throws RequestError (400) if a valid token has the name. `secret` is a value that callers already use; without it a
   * new one is made.
   */
  create(request: TokenRequest, secret?: string): Promise<CreatedToken>;
  /** Revokes a token by id or name. Throws RequestError (404) if there is no such valid token. */
  revoke(idOrName: string): Promise<{ readonly token: Token; readonly position: bigint }>;
  /** Sets the rights of callers without a token. Appends nothing if they already have them. */
  setPublic(allow: readonly Right[]): Promise<{ readonly position: bigint | undefined }>;
  list(): Promise<readonly Token[]>;
};

export type TokenCommandsOptions = AccessCommitOptions & { readonly key: Buffer };

/** Creates the commands that change tokens and public rights on the access stream. */
export function createTokenCommands({ log, space, key, now, author }: TokenCommandsOptions): TokenCommands {
  const commit = createAccessCommit({ log, space, now, author });
  return {
    async create(request, given) {
      const secret = given ?? newSecret();
      const id = randomId();
      const hash = hashSecret(key, secret);
      const { position } = await commit((state) => {
        refuseTakenName(state, request.name, now());
        if (given !== undefined) refuseKnownSecret(state, hash);
        const { type, history = false, ...rest } = request;
        const data = { id, ...rest, history, tokenType: type, hash };
        return [[{ type: 'token-created', data }], undefined];
      });
      const token = (await readAccess(log, space)).tokens.get(id);
      if (token === undefined || position === undefined) throw new Error(`token ${id} was not stored`);
      return { token, secret, position };
    },
    async revoke(idOrName) {
      const { result, position } = await commit((state) => {
        const token = findInForce(state, idOrName);
        return [[{ type: 'token-revoked', data: { id: token.id } }], token];
      });
      return { token: result, position: position ?? 0n };
    },
    async setPublic(allow) {
      const { position } = await commit((state) => {
        const event: AccessEvent = { type: 'public-rights-set', data: { allow } };
        return [isPublic(state, allow) ? [] : [event], undefined];
      });
      return { position };
    },
    async list() {
      return [...(await readAccess(log, space)).tokens.values()];
    },
  };
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

function refuseKnownSecret(state: AccessState, hash: string): void {
  const known = state.byHash.get(hash);
  if (known === undefined) return;
  throw new RequestError('token-known', `"${known.name}" has the same value: revoke it first`);
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
