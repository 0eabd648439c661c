import type { Right } from './rights.ts';

/** The events of who may do what, in one stream of their own beside the documents'. */

export const TOKEN_TYPES = ['read-only', 'full-access', 'custom'] as const;
export type TokenType = (typeof TOKEN_TYPES)[number];

export type TokenCreated = {
  readonly type: 'token-created';
  readonly data: {
    readonly id: string;
    readonly name: string;
    readonly tokenType: TokenType;
    /** Of custom tokens; empty for the others. */
    readonly allow: readonly Right[];
    /** The right to see drafts; a full-access token has it anyway. */
    readonly drafts: boolean;
    /** ISO 8601; null: never. */
    readonly expiresAt: string | null;
    /** HMAC-SHA-256 of the secret, hexadecimal. The secret itself is kept nowhere. */
    readonly hash: string;
  };
};

export type TokenRevoked = { readonly type: 'token-revoked'; readonly data: { readonly id: string } };

/** What a caller without a token may do, from here on. */
export type PublicRightsSet = {
  readonly type: 'public-rights-set';
  readonly data: { readonly allow: readonly Right[] };
};

export type AccessEvent = TokenCreated | TokenRevoked | PublicRightsSet;

/** `<space>.access` */
export function accessStream(space: string): string {
  return `${space}.access`;
}

const ACCESS_EVENTS: ReadonlySet<string> = new Set<AccessEvent['type']>([
  'token-created',
  'token-revoked',
  'public-rights-set',
]);

export function isAccessEvent({ type }: { readonly type: string }): boolean {
  return ACCESS_EVENTS.has(type);
}
