import type { AccessState } from '../../shared/access/access-state.ts';
import { EVERY_ROLE, NO_ROLE, type Role, rolesOf } from '../../shared/access/login-state.ts';
import type { Rights } from '../../shared/access/rights.ts';
import { UNKNOWN_TOKEN } from '../../shared/access/unknown-token.ts';
import type { Actor } from '../../shared/event-store/event-store.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { JwtClaims, Jwts } from './jwt.ts';
import type { LoginOptions } from './login-options.ts';
import { type Person, passwordAt } from './people.ts';

/** Sender of a request with a JWT. */
export type SignedIn = {
  readonly rights: Rights;
  readonly actor: Actor;
  /** Login requests that are allowed. */
  readonly login: ReadonlySet<string>;
  /** Time in milliseconds at which the JWT expires. */
  readonly expires: number | undefined;
  /** Varve's user; absent if only an identity provider knows the person. */
  readonly user?: { readonly id: number; readonly documentId: string; readonly session: string | undefined };
};

export type JwtDecision =
  | { readonly kind: 'signed-in'; readonly who: SignedIn }
  /** `mayBecomeValid` is true if this process may not have read yet the event that makes the JWT valid. */
  | { readonly kind: 'refused'; readonly error: RequestError; readonly mayBecomeValid: boolean };

export type JwtCheckOptions = Pick<LoginOptions, 'jwts' | 'people' | 'access'>;

/**
 * Checks JWTs against the current users. So a changed role or password, a block or a removal takes effect at once, before the JWT expires.
 */
export function createJwtCheck({
  jwts,
  people,
  access,
}: JwtCheckOptions): (jwt: string) => Promise<JwtDecision> {
  return async (jwt) => {
    const claims = await jwts.read(jwt);
    if (claims === undefined || !isAccess(claims, jwts)) return refused(false, UNKNOWN_TOKEN);
    const person = people.byId(claims.userId);
    if (person === undefined) return refused(claims.isOwn);
    const known = passwordAt(person.record);
    if (known !== claims.passwordAt) return refused(claims.isOwn && isLater(claims.passwordAt, known));
    if (!isOfSession(claims, person)) return refused(claims.isOwn);
    const state = access();
    const needsConfirmation = state.login.switches.email_confirmation && !person.confirmed;
    if (person.blocked || needsConfirmation) return refused(false);
    const { rights, login } = state.development ? EVERY_ROLE : roleOf(state, person.role);
    const { id, documentId } = person;
    const actor = { kind: 'user', id: documentId } as const;
    return {
      kind: 'signed-in',
      who: {
        rights,
        login,
        actor,
        expires: claims.expires,
        user: { id, documentId, session: claims.session },
      },
    };
  };
}

function isAccess({ use }: JwtClaims, { management }: Jwts): boolean {
  return use === 'access' || (use === 'legacy' && management === 'legacy-support');
}

/** Returns whether the session of a JWT is open. Strapi's sessions are unknown here; their JWTs last ten minutes. */
function isOfSession({ use, isOwn, session }: JwtClaims, { record }: Person): boolean {
  return use !== 'access' || !isOwn || record.sessions?.some(({ id }) => id === session) === true;
}

function isLater(at: number | undefined, known: number | undefined): boolean {
  return at !== undefined && (known === undefined || at > known);
}

/** Returns the role with this number; a role without rights if it is no longer defined. */
export function roleOf(state: AccessState, id: number): Role {
  return rolesOf(state.login).get(id) ?? NO_ROLE;
}

function refused(mayBecomeValid: boolean, message = 'Invalid credentials'): JwtDecision {
  return { kind: 'refused', error: new RequestError('unauthorized', message), mayBecomeValid };
}

const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Returns whether a bearer's text has the form of a JWT. */
export function hasJwtForm(text: string | undefined): text is string {
  return text !== undefined && JWT.test(text);
}
