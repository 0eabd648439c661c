import type { LoginEvent } from './login-events.ts';
import type { Right } from './rights.ts';

/** Events that define rights: one stream of a namespace, next to the documents' streams. */

export const TOKEN_TYPES = ['read-only', 'full-access', 'custom'] as const;
export type TokenType = (typeof TOKEN_TYPES)[number];

export type TokenCreated = {
  readonly type: 'token-created';
  readonly data: {
    readonly id: string;
    readonly name: string;
    readonly tokenType: TokenType;
    /** Rights of custom tokens; empty for other tokens. */
    readonly allow: readonly Right[];
    /** The right to see drafts; a full-access token has it anyway. */
    readonly drafts: boolean;
    /** The right to see earlier versions. */
    readonly history: boolean;
    /** ISO 8601; null: never. */
    readonly expiresAt: string | null;
    /** HMAC-SHA-256 of the secret, hexadecimal. The secret itself is not stored. */
    readonly hash: string;
  };
};

export type TokenRevoked = { readonly type: 'token-revoked'; readonly data: { readonly id: string } };

/** Sets what a caller without a token may do, from this event on. */
export type PublicRightsSet = {
  readonly type: 'public-rights-set';
  readonly data: { readonly allow: readonly Right[] };
};

export type AccessEvent = TokenCreated | TokenRevoked | PublicRightsSet | LoginEvent;

/** Returns `<space>.access`, the name of the access stream. */
export function accessStream(space: string): string {
  return `${space}.access`;
}

const ACCESS_EVENTS: ReadonlySet<string> = new Set<AccessEvent['type']>([
  'token-created',
  'token-revoked',
  'public-rights-set',
  'role-defined',
  'login-configured',
]);

/** Returns whether an event is in the access stream: one of tokens, public rights, roles or the login. */
export function isAccessEvent({ type }: { readonly type: string }): boolean {
  return ACCESS_EVENTS.has(type);
}
