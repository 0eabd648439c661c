import { assertNever } from '../assert-never.ts';
import type { StoredEvent } from '../event-store/event-store.ts';
import { USER_ROLES } from '../schema/built-in-types.ts';
import { type AccessEvent, isAccessEvent, type TokenCreated, type TokenType } from './access-events.ts';
import { evolveLogin, INITIAL_LOGIN, type LoginState } from './login-state.ts';
import { FULL_ACCESS, NO_RIGHTS, type Rights } from './rights.ts';

export type Token = {
  readonly id: string;
  readonly name: string;
  readonly type: TokenType;
  readonly rights: Rights;
  readonly hash: string;
  /** ISO 8601, like the other times. */
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
};

/** Tokens and rights of a namespace. */
export type AccessState = {
  /** Revision of the last event; undefined before the first. */
  readonly revision: bigint | undefined;
  /** All tokens ever created, by id, in order of creation. */
  readonly tokens: ReadonlyMap<string, Token>;
  /** Tokens that are not revoked, by hash. They may have expired. */
  readonly byHash: ReadonlyMap<string, Token>;
  readonly publicRights: Rights;
  /**
   * True before any token or public right was set: every caller may then do everything. Revoking the last token does not make it true
   * again.
   */
  readonly development: boolean;
  /** True if `publicRights` were set by an event of their own. They then take precedence over the role Public. */
  readonly isPublicSet: boolean;
  readonly login: LoginState;
};

export const INITIAL_ACCESS: AccessState = {
  revision: undefined,
  tokens: new Map(),
  byHash: new Map(),
  publicRights: NO_RIGHTS,
  development: true,
  isPublicSet: false,
  login: INITIAL_LOGIN,
};

/** Returns the state after an event of the access stream. Events that it has already applied or cannot read change nothing. */
export function evolveAccess(state: AccessState, stored: StoredEvent): AccessState {
  if (state.revision !== undefined && stored.revision <= state.revision) return state;
  if (!isAccessEvent(stored) || stored.unreadable !== undefined)
    return { ...state, revision: stored.revision };
  const event = { type: stored.type, data: stored.data } as AccessEvent;
  const read = { ...state, revision: stored.revision };
  const next = { ...read, development: false };
  switch (event.type) {
    case 'token-created':
      return withToken(next, createToken(event.data, stored.metadata.at));
    case 'token-revoked': {
      const token = state.tokens.get(event.data.id);
      return token === undefined ? next : withToken(next, { ...token, revokedAt: stored.metadata.at });
    }
    case 'public-rights-set':
      return {
        ...next,
        isPublicSet: true,
        publicRights: { kind: 'custom', allowed: new Set(event.data.allow), drafts: false },
      };
    // Imports write these events into logs of servers without login. There they must not end development mode.
    case 'role-defined':
    case 'login-configured':
      return { ...read, login: evolveLogin(state.login, event) };
    default:
      return assertNever(event);
  }
}

function withToken(state: AccessState, token: Token): AccessState {
  const tokens = new Map(state.tokens).set(token.id, token);
  const byHash = new Map(state.byHash);
  if (token.revokedAt === null) byHash.set(token.hash, token);
  else byHash.delete(token.hash);
  return { ...state, tokens, byHash };
}

function createToken(data: TokenCreated['data'], createdAt: string): Token {
  const { id, name, tokenType, hash, expiresAt } = data;
  return { id, name, type: tokenType, rights: rightsOf(data), hash, createdAt, expiresAt, revokedAt: null };
}

function rightsOf({ tokenType, allow, drafts, history }: TokenCreated['data']): Rights {
  switch (tokenType) {
    case 'full-access':
      return FULL_ACCESS;
    case 'read-only':
      return { kind: 'read-only', drafts, history };
    case 'custom':
      return { kind: 'custom', allowed: new Set(allow), drafts, history };
    default:
      return assertNever(tokenType);
  }
}

/**
 * Returns the state for a server with login. The role Public then sets the rights of anonymous callers, unless `publicRights` were set.
 * Roles end development mode.
 */
export function withLogin(state: AccessState): AccessState {
  const { roles } = state.login;
  const publicRole = roles.get(USER_ROLES.public);
  const publicRights = state.isPublicSet || publicRole === undefined ? state.publicRights : publicRole.rights;
  return { ...state, publicRights, development: state.development && roles.size === 0 };
}

/** Returns the status of a token at a time in milliseconds. */
export function tokenStatus(token: Token, now: number): 'active' | 'expired' | 'revoked' {
  if (token.revokedAt !== null) return 'revoked';
  return token.expiresAt !== null && Date.parse(token.expiresAt) <= now ? 'expired' : 'active';
}
