import { type Token, tokenStatus } from '../../shared/access/access-state.ts';
import { shortRight } from '../../shared/access/parse-allow.ts';
import { mayReadDrafts, mayReadHistory, type Rights } from '../../shared/access/rights.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** Token as people see it: everything but its hash. */
export type TokenDescription = ReturnType<typeof describeToken>;

/** Describes a token for people. `registry` gives the short names of content types; `now` is in milliseconds. */
export function describeToken(token: Token, registry: SchemaRegistry | undefined, now: number) {
  const { id, name, type, rights, createdAt, expiresAt, revokedAt } = token;
  return {
    id,
    name,
    type,
    allow: rightNames(rights, registry),
    drafts: mayReadDrafts(rights),
    history: mayReadHistory(rights),
    createdAt,
    expiresAt,
    revokedAt,
    status: tokenStatus(token, now),
  };
}

/** Returns the sorted names of custom rights, short ones if there is a registry. Empty for other kinds of rights. */
export function rightNames(rights: Rights, registry: SchemaRegistry | undefined): readonly string[] {
  const allowed = rights.kind === 'custom' ? [...rights.allowed].sort() : [];
  return registry === undefined ? allowed : allowed.map((right) => shortRight(right, registry));
}
