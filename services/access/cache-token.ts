import { type AccessState, type Token, tokenStatus } from '../../shared/access/access-state.ts';
import { additionalReads } from '../../shared/access/additional-reads.ts';
import type { Rights } from '../../shared/access/rights.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { AccessControl } from './access-control.ts';

/** Token whose answers shared caches may store while it has no more rights than anonymous callers. */
export type CacheToken = {
  /** Returns the rights object of the token's requests; undefined while its answers are private. */
  rights(): Rights | undefined;
  /** Returns the reason why the token's answers are private; undefined while they are not. */
  problem(): string | undefined;
};

export type CacheTokenOptions = {
  readonly name: string;
  readonly access: Pick<AccessControl, 'state'>;
  readonly registry: SchemaRegistry;
  /** Called with the reason when a change of rights makes the token's answers private. */
  readonly refused: (problem: string) => void;
};

/** Creates the check of a token. It compares the rights of the token with those of anonymous callers after each change of rights. */
export function createCacheToken(options: CacheTokenOptions): CacheToken {
  const { access, refused } = options;
  let last: { readonly state: AccessState; readonly checked: Checked } | undefined;
  const now = (): Checked => {
    const state = access.state();
    if (last?.state === state) return last.checked;
    const checked = check(options, state);
    const wasShared = last !== undefined && last.checked.problem === undefined;
    last = { state, checked };
    if (wasShared && checked.problem !== undefined) refused(checked.problem);
    return checked;
  };
  return { rights: () => now().rights, problem: () => now().problem };
}

type Checked = { readonly rights?: Rights; readonly problem?: string };

function check({ name, registry }: CacheTokenOptions, state: AccessState): Checked {
  const token = tokenNamed(state, name);
  if (token === undefined)
    return { problem: `there is no valid token "${name}": make one with varve token create` };
  const more = additionalReads(registry, token.rights, state.publicRights);
  if (more.length === 0) return { rights: token.rights };
  return {
    problem: `the token "${name}" sees more than callers without a token (${some(more)}): give callers without a token the same rights with --public, or name another token`,
  };
}

/** Returns the valid token of a name. Nothing watches its expiry: requests with an expired token are refused anyway. */
function tokenNamed({ tokens }: AccessState, name: string): Token | undefined {
  return [...tokens.values()].find((one) => one.name === name && tokenStatus(one, Date.now()) === 'active');
}

const MOST_NAMED = 5;

function some(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED;
  return rest > 0 ? `${names.slice(0, MOST_NAMED).join(', ')} and ${rest} more` : names.join(', ');
}
