import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import type { AccessState } from '../../shared/access/access-state.ts';
import { EVERY_ROLE, rolesOf } from '../../shared/access/login-state.ts';
import { defined } from '../../shared/defined.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { SignedIn } from './signed-in.ts';

/** Identity provider whose tokens are accepted. */
export type IdentityProvider = {
  /** URL of its keys (JSON Web Key Set). */
  readonly keys: string;
  readonly audience: string;
  readonly issuer: string | undefined;
  /** Claim that names the roles of a person, with dots between nested claims: `realm_access.roles`. */
  readonly roleClaim: string;
  /** Types of roles, by values of that claim. A value that is missing here is itself the type of a role. */
  readonly roles: ReadonlyMap<string, string>;
};

/** Accepted algorithms. Symmetric ones are missing: they would use a public key as their secret. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const TIMEOUT_MS = 5_000;
/** Pause after a failed read of the keys. Without it each request with a token would send one to the provider. */
const PAUSE_MS = 5_000;

/**
 * Returns a function that finds the sender of a provider's token. It resolves with undefined if the token is invalid, and rejects with
 * RequestError (503) while the provider's keys cannot be read.
 */
export function createIdentities(
  provider: IdentityProvider,
  access: () => AccessState,
  pauseMs = PAUSE_MS,
): (jwt: string) => Promise<SignedIn | undefined> {
  const read = createRemoteJWKSet(new URL(provider.keys), { timeoutDuration: TIMEOUT_MS });
  let failed: { readonly at: number; readonly error: unknown } | undefined;
  const keys: typeof read = Object.assign(async (...of: Parameters<typeof read>) => {
    if (failed !== undefined && performance.now() - failed.at < pauseMs) throw failed.error;
    return read(...of).catch((error: unknown) => {
      failed = isAboutToken(error) ? undefined : { at: performance.now(), error };
      throw error;
    });
  }, read);
  const { audience, issuer } = provider;
  const options = { algorithms: ALGORITHMS, audience, ...defined({ issuer }) };
  return async (jwt) => {
    const { payload } = await jwtVerify(jwt, keys, { ...options, requiredClaims: ['exp', 'sub'] }).catch(
      (error: unknown) => {
        if (isAboutToken(error)) return { payload: undefined };
        throw unreachable(error);
      },
    );
    if (typeof payload?.sub !== 'string') return undefined;
    const state = access();
    const { rights, login } = state.development ? EVERY_ROLE : roleFor(provider, state, payload);
    const actor = { kind: 'identity', id: payload.sub.slice(0, 200) } as const;
    return { rights, login, actor, expires: Number(payload.exp) * 1000 };
  };
}

/** Returns the first role that the token names and that exists; else Authenticated. */
function roleFor({ roleClaim, roles }: IdentityProvider, { login }: AccessState, payload: JWTPayload) {
  const known = [...rolesOf(login).values()];
  const named = [claimAt(payload, roleClaim)].flat().filter((value) => typeof value === 'string');
  const types = [...named.map((value) => roles.get(value) ?? value), 'authenticated'];
  const [role] = types.flatMap((wanted) => known.find(({ type }) => type === wanted) ?? []);
  if (role === undefined) throw new Error('the role Authenticated is missing');
  return role;
}

function claimAt(payload: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined,
      payload,
    );
}

const OF_KEYS = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'];

function isAboutToken(error: unknown): boolean {
  return error instanceof errors.JOSEError && !OF_KEYS.includes(error.code);
}

function unreachable(cause: unknown): RequestError {
  const message = 'The keys of the identity provider cannot be read for now';
  return new RequestError('keys-unavailable', message, {}, { cause });
}
