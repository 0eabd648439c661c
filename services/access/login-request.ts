import * as z from 'zod';
import type { LoginConfigured, RoleDefined } from '../../shared/access/login-events.ts';
import {
  DEFAULT_LOGIN_ACTIONS,
  isLoginAction,
  LOGIN_ACTIONS,
  type LoginState,
  rolesOf,
} from '../../shared/access/login-state.ts';
import { parseAllow } from '../../shared/access/parse-allow.ts';
import { defined } from '../../shared/defined.ts';
import { formProblems, type Parsed } from '../../shared/form-problems.ts';
import { USER_ROLES } from '../../shared/schema/built-in-types.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { RIGHTS_FORM } from './token-request.ts';

function text(most: number) {
  return z.string({ error: 'must be a string' }).max(most, `must have at most ${most} characters`);
}

export const ROLE_FORM = z.strictObject({
  name: text(100).min(1, 'is empty').optional(),
  description: text(500).optional(),
  allow: RIGHTS_FORM.optional(),
  drafts: z.boolean({ error: 'must be true or false' }).optional(),
  history: z.boolean({ error: 'must be true or false' }).optional(),
  login: z
    .array(z.string().refine(isLoginAction, `must be one of ${LOGIN_ACTIONS.join(', ')}`), {
      error: 'must be a list',
    })
    .optional(),
});

/** Returns the role of this type that a body describes. Members that the body omits stay unchanged. */
export function parseRoleRequest(
  type: string,
  given: unknown,
  state: LoginState,
  registry: SchemaRegistry,
): Parsed<RoleDefined['data']> {
  const form = ROLE_FORM.safeParse(given);
  if (!form.success) return { kind: 'problems', problems: formProblems(form.error) };
  if (!/^[a-z][a-z0-9_-]{0,99}$/i.test(type))
    return {
      kind: 'problems',
      problems: [{ path: 'type', message: 'must be a name of letters, digits, _ and -' }],
    };
  const roles = rolesOf(state);
  const known = [...roles.values()].find((role) => role.type === type);
  const allowed = form.data.allow === undefined ? undefined : parseAllow(form.data.allow, registry);
  if (allowed?.kind === 'problems')
    return { kind: 'problems', problems: allowed.problems.map((message) => ({ path: 'allow', message })) };
  const rights = known?.rights.kind === 'custom' ? known.rights : undefined;
  const login = known === undefined ? DEFAULT_LOGIN_ACTIONS.authenticated : [...known.login];
  const value = {
    id: known?.id ?? Math.max(USER_ROLES.public, ...roles.keys()) + 1,
    type,
    name: form.data.name ?? known?.name ?? type,
    description: form.data.description ?? known?.description ?? '',
    allow: allowed?.allowed ?? [...(rights?.allowed ?? [])],
    drafts: form.data.drafts ?? rights?.drafts ?? false,
    history: form.data.history ?? rights?.history ?? false,
    login: form.data.login ?? login,
  };
  return { kind: 'parsed', value };
}

const address = text(2_000)
  .regex(/^https?:\/\//, 'must be an http or https address')
  .nullable();

export const LOGIN_FORM = z.strictObject({
  allow_register: z.boolean({ error: 'must be true or false' }).optional(),
  email_confirmation: z.boolean({ error: 'must be true or false' }).optional(),
  email_confirmation_redirection: address.optional(),
  email_reset_password: address.optional(),
  default_role: text(100).optional(),
});

/** Returns the switches of the login that a body describes; switches that the body omits stay as they are. */
export function parseSwitches(
  given: unknown,
  { switches, ...state }: LoginState,
): Parsed<LoginConfigured['data']> {
  const form = LOGIN_FORM.safeParse(given);
  if (!form.success) return { kind: 'problems', problems: formProblems(form.error) };
  const changed = { ...switches, ...defined(form.data) };
  const types = [...rolesOf({ switches, ...state }).values()].map(({ type }) => type);
  if (!types.includes(changed.default_role)) {
    const message = `must be one of the roles ${types.join(', ')}`;
    return { kind: 'problems', problems: [{ path: 'default_role', message }] };
  }
  return { kind: 'parsed', value: { switches: changed } };
}
