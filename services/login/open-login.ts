import { decodeProtectedHeader } from 'jose';
import type { AccessState } from '../../shared/access/access-state.ts';
import { EVERY_ROLE, LOGIN_ACTIONS, rolesOf } from '../../shared/access/login-state.ts';
import { FULL_ACCESS, type Rights } from '../../shared/access/rights.ts';
import { UNKNOWN_TOKEN } from '../../shared/access/unknown-token.ts';
import { RequestError } from '../../shared/request-error.ts';
import { USER_ROLES } from '../../shared/schema/built-in-types.ts';
import { createIdentities, type IdentityProvider } from './identities.ts';
import { createJwts, type JwtManagement } from './jwt.ts';
import { createLogin } from './login.ts';
import type { LoginApi } from './login-api.ts';
import type { LoginOptions } from './login-options.ts';
import type { SendMail } from './mailer.ts';
import type { People } from './people.ts';
import { createJwtCheck, type JwtDecision, roleOf } from './signed-in.ts';

/** The operator's settings for people who sign in. */
export type LoginPlan = {
  /** Passwords and JWTs of this server; absent: identity providers alone. */
  readonly passwords: PasswordPlan | undefined;
  readonly provider: IdentityProvider | undefined;
};

export type PasswordPlan = Pick<LoginOptions, 'scheme' | 'registerFields' | 'mailFailed'> & {
  /** Signs JWTs; absent: a key of the log's own. */
  readonly secret: Uint8Array | undefined;
  readonly management: JwtManagement;
  /** Seconds. */
  readonly lifetime: number;
  /** Attempts a minute; 0: any number. */
  readonly rateLimit: number;
  /** Where people reach the server; absent: where it listens. */
  readonly url: string | undefined;
  /** Absent: mails are shown in development mode, and not sent otherwise. */
  readonly mail: SendMail | undefined;
  readonly showMail: SendMail;
};

export type OpenLoginOptions = {
  readonly plan: LoginPlan;
  /** In place of a secret that the plan does not have. */
  readonly ownSecret: Uint8Array;
  /** As it is where people sign in. */
  readonly access: () => AccessState;
  readonly people: People;
  readonly url: string;
} & Pick<LoginOptions, 'commands' | 'present' | 'later'>;

/**
 * Creates the login of a process. A JWT with HS256 is Varve's own, any other one the provider's, and one that neither can check is
 * refused.
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

function openPasswords(options: OpenLoginOptions, plan: PasswordPlan) {
  const { access, people, commands, present, later } = options;
  const now = Date.now;
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
    mail: () => plan.mail ?? (access().development ? plan.showMail : undefined),
  });
  return { login, check: createJwtCheck({ jwts, people, access }) };
}

const EVERYTHING: ReadonlySet<string> = new Set(LOGIN_ACTIONS);

/** Returns what a caller without a JWT may ask: what the role Public may, and with full access everything. */
function actionsOfCaller(state: AccessState, rights: Rights): ReadonlySet<string> {
  if (state.development) return EVERY_ROLE.login;
  return rights === FULL_ACCESS ? EVERYTHING : roleOf(state, USER_ROLES.public).login;
}
