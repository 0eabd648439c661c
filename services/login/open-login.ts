import { decodeProtectedHeader } from 'jose';
import type { AccessState } from '../../shared/access/access-state.ts';
import { EVERY_ROLE, LOGIN_ACTIONS, rolesOf } from '../../shared/access/login-state.ts';
import { FULL_ACCESS, type Rights } from '../../shared/access/rights.ts';
import { UNKNOWN_TOKEN } from '../../shared/access/unknown-token.ts';
import { createBounded } from '../../shared/bounded.ts';
import { RequestError } from '../../shared/request-error.ts';
import { USER_ROLES } from '../../shared/schema/built-in-types.ts';
import { currentCaller } from '../command/current-caller.ts';
import { createIdentities, type IdentityProvider } from './identities.ts';
import { createJwts, type JwtManagement } from './jwt.ts';
import { createLogin } from './login.ts';
import type { LoginApi } from './login-api.ts';
import type { LoginOptions } from './login-options.ts';
import type { SendMail } from './mailer.ts';
import type { People } from './people.ts';
import { createJwtCheck, type JwtDecision, roleOf } from './signed-in.ts';

/** Operator's settings for the login. */
export type LoginPlan = {
  /** Settings for passwords and JWTs of this server; undefined if only identity providers sign people in. */
  readonly passwords: PasswordPlan | undefined;
  readonly provider: IdentityProvider | undefined;
};

export type PasswordPlan = Pick<LoginOptions, 'scheme' | 'registerFields' | 'mailFailed'> & {
  /** Secret that signs JWTs; undefined for a key derived from the log's access key. */
  readonly secret: Uint8Array | undefined;
  readonly management: JwtManagement;
  /** Lifetime of a JWT in seconds. */
  readonly lifetime: number;
  /** Attempts per minute; 0 for no limit. */
  readonly rateLimit: number;
  /** Public address of the server; undefined for the address where it listens. */
  readonly url: string | undefined;
  /** Sends mails. If undefined, mails are printed in development mode, and not sent otherwise. */
  readonly mail: SendMail | undefined;
  readonly showMail: SendMail;
};

export type OpenLoginOptions = {
  readonly plan: LoginPlan;
  /** Secret that is used if the plan has none. */
  readonly ownSecret: Uint8Array;
  /** Returns the current state of the access stream. */
  readonly access: () => AccessState;
  readonly people: People;
  readonly url: string;
} & Pick<LoginOptions, 'commands' | 'present' | 'later'>;

/**
 * Creates the login of a process. Varve's secret checks JWTs with HS256, and the identity provider's keys check all others. A JWT that
 * neither can check is refused.
 */
export function openLogin(options: OpenLoginOptions): LoginApi {
  const { plan, access } = options;
  const { passwords, provider } = plan;
  const identities = provider === undefined ? undefined : createIdentities(provider, access);
  const own = passwords === undefined ? undefined : openPasswords(options, passwords);
  return {
    async check(jwt) {
      const alg = algorithmOf(jwt);
      if (alg === 'HS256' && own !== undefined) return own.check(jwt);
      const who = alg === 'HS256' ? undefined : await identities?.(jwt);
      return who === undefined ? UNKNOWN : { kind: 'signed-in', who };
    },
    actionsOf: (who, rights) => who?.login ?? actionsOfCaller(access(), rights),
    roleOf(user) {
      const person = options.people.byId(user);
      return person && rolesOf(access().login).get(person.role);
    },
    login: own?.login,
    management: passwords?.management,
    rateLimit: passwords?.rateLimit ?? 0,
  };
}

const UNKNOWN: JwtDecision = {
  kind: 'refused',
  error: new RequestError('unauthorized', UNKNOWN_TOKEN),
  mayBecomeValid: false,
};

function algorithmOf(jwt: string): string | undefined {
  try {
    return decodeProtectedHeader(jwt).alg;
  } catch {
    return undefined;
  }
}

/** Connections to the mail server. */
const MAILS_AT_ONCE = 2;
const MOST_MAILS_WAITING = 500;

function openPasswords(options: OpenLoginOptions, plan: PasswordPlan) {
  const { access, people, commands, present, later } = options;
  const now = Date.now;
  const bounded = createBounded(MAILS_AT_ONCE, {
    waiting: MOST_MAILS_WAITING,
    refused: () => new RequestError('busy', 'Too many mails are being sent, try again'),
  });
  const { management, lifetime } = plan;
  const jwts = createJwts({ secret: plan.secret ?? options.ownSecret, management, lifetime, now });
  const login = createLogin({
    access,
    people,
    commands,
    present,
    later,
    jwts,
    now,
    scheme: plan.scheme,
    registerFields: plan.registerFields,
    mailFailed: plan.mailFailed,
    url: () => plan.url ?? options.url,
    mail() {
      const send = plan.mail ?? (access().development ? plan.showMail : undefined);
      return send && ((mail) => bounded(() => send(mail), currentCaller()));
    },
  });
  return { login, check: createJwtCheck({ jwts, people, access }) };
}

const EVERYTHING: ReadonlySet<string> = new Set(LOGIN_ACTIONS);

/** Returns the login requests of a caller without a JWT: those of the role Public, or all with full access. */
function actionsOfCaller(state: AccessState, rights: Rights): ReadonlySet<string> {
  if (state.development) return EVERY_ROLE.login;
  return rights === FULL_ACCESS ? EVERYTHING : roleOf(state, USER_ROLES.public).login;
}
