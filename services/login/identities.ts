import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import type { AccessState } from '../../shared/access/access-state.ts';
import { EVERY_ROLE, rolesOf } from '../../shared/access/login-state.ts';
import { defined } from '../../shared/defined.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { SignedIn } from './signed-in.ts';

/** An identity provider whose tokens are accepted. */
export type IdentityProvider = {
  /** Where its keys are (JSON Web Key Set). */
  readonly keys: string;
  readonly audience: string;
  readonly issuer: string | undefined;
  /** The claim that names what its people may do, with dots for claims inside: `realm_access.roles`. */
  readonly roleClaim: string;
  /** Types of roles by values of that claim. A value that is not here is the type of a role itself. */
  readonly roles: ReadonlyMap<string, string>;
};

/** Symmetric algorithms would make a secret of what everyone can read. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const TIMEOUT_MS = 5_000;

/** Finds who sends a token of the provider; undefined: it is not valid. Throws RequestError (503) while its keys cannot be read. */
export function createIdentities(
  provider: IdentityProvider,
  access: () => AccessState,
): (jwt: string) => Promise<SignedIn | undefined> {
  const keys = createRemoteJWKSet(new URL(provider.keys), { timeoutDuration: TIMEOUT_MS });
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
    return { rights, login, actor: { kind: 'identity', id: payload.sub.slice(0, 200) } };
  };
}

/** The first of the roles that the token names and that is there; else Authenticated. */
function roleFor({ roleClaim, roles }: IdentityProvider, { login }: AccessState, payload: JWTPayload) {
  const known = [...rolesOf(login).values()];
  const named = [claimAt(payload, roleClaim)].flat().filter((value) => typeof value === 'string');
  const types = [...named.map((value) => roles.get(value) ?? value), 'authenticated'];
  const found = types.flatMap((wanted) => known.find(({ type }) => type === wanted) ?? []);
  const [role] = found;
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
