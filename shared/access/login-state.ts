import { assertNever } from '../assert-never.ts';
import { USER_ROLES } from '../schema/built-in-types.ts';
import type { LoginEvent, LoginMails, LoginSwitches, RoleDefined } from './login-events.ts';
import { FULL_ACCESS, NO_RIGHTS, type Rights } from './rights.ts';

export type Role = Pick<RoleDefined['data'], 'id' | 'type' | 'name' | 'description'> & {
  readonly rights: Rights;
  readonly login: ReadonlySet<string>;
};

/** Settings and roles of the login according to the log. */
export type LoginState = {
  /** Defined roles, by number. */
  readonly roles: ReadonlyMap<number, Role>;
  readonly switches: LoginSwitches;
  readonly mails: LoginMails;
};

/** Login requests that a role may make, with Strapi's names. */
export const LOGIN_ACTIONS = [
  ...(['auth.callback', 'auth.connect', 'auth.register', 'auth.forgotPassword'] as const),
  ...(['auth.resetPassword', 'auth.emailConfirmation', 'auth.sendEmailConfirmation'] as const),
  ...(['auth.refresh', 'auth.logout', 'auth.changePassword', 'user.me'] as const),
  // Allows a caller to see the roles of users.
  'role.find',
] as const;
export type LoginAction = (typeof LOGIN_ACTIONS)[number];

/** Returns whether a text names a login request, such as `auth.register`. */
export function isLoginAction(text: string): text is LoginAction {
  return (LOGIN_ACTIONS as readonly string[]).includes(text);
}

/** Login requests that Strapi allows its two roles when it creates them. */
export const DEFAULT_LOGIN_ACTIONS: Readonly<Record<keyof typeof USER_ROLES, readonly LoginAction[]>> = {
  authenticated: ['auth.logout', 'auth.changePassword', 'user.me'],
  public: LOGIN_ACTIONS.filter(
    (action) => !['auth.logout', 'auth.changePassword', 'user.me', 'role.find'].includes(action),
  ),
};

const FROM = { name: '', email: '' };

/** Nobody can register until an import or an operator allows it. */
export const INITIAL_LOGIN: LoginState = {
  roles: new Map(),
  switches: {
    allow_register: false,
    email_confirmation: false,
    email_confirmation_redirection: null,
    email_reset_password: null,
    default_role: 'authenticated',
  },
  mails: {
    resetPassword: {
      from: FROM,
      replyTo: '',
      subject: 'Reset your password',
      message:
        '<p>Somebody asked for a new password for <%= USER.email %>.</p>\n<p><%= URL %>?code=<%= TOKEN %></p>',
    },
    confirmation: {
      from: FROM,
      replyTo: '',
      subject: 'Confirm your address',
      message: '<p>Please confirm <%= USER.email %>.</p>\n<p><%= URL %>?confirmation=<%= CODE %></p>',
    },
  },
};

/** Returns the state after an event. */
export function evolveLogin(state: LoginState, event: LoginEvent): LoginState {
  switch (event.type) {
    case 'role-defined': {
      const { id, type, name, description, allow, drafts, history, login } = event.data;
      const rights: Rights = { kind: 'custom', allowed: new Set(allow), drafts, history };
      const role: Role = { id, type, name, description, rights, login: new Set(login) };
      return { ...state, roles: new Map(state.roles).set(id, role) };
    }
    case 'login-configured':
      return { ...state, ...event.data };
    default:
      return assertNever(event);
  }
}

const UNDEFINED_ROLES: readonly Role[] = [
  builtInRole('authenticated', 'Authenticated', 'Default role given to authenticated user.'),
  builtInRole('public', 'Public', 'Default role given to unauthenticated user.'),
];

function builtInRole(type: keyof typeof USER_ROLES, name: string, description: string): Role {
  const login = new Set(DEFAULT_LOGIN_ACTIONS[type]);
  return { id: USER_ROLES[type], type, name, description, rights: NO_RIGHTS, login };
}

/** Returns all roles. Authenticated and Public are always among them. */
export function rolesOf({ roles }: LoginState): ReadonlyMap<number, Role> {
  const missing = UNDEFINED_ROLES.filter(({ id }) => !roles.has(id));
  return new Map([...missing.map((role) => [role.id, role] as const), ...roles]);
}

/** Role of a user whose role does not exist. It allows nothing. */
export const NO_ROLE: Role = {
  id: 0,
  type: 'none',
  name: 'None',
  description: '',
  rights: NO_RIGHTS,
  login: new Set<string>(),
};

/** Rights of callers in development mode, who may do everything. */
export const EVERY_ROLE: Pick<Role, 'rights' | 'login'> = {
  rights: FULL_ACCESS,
  login: new Set<string>(LOGIN_ACTIONS),
};
