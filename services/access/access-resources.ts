import { type Role, rolesOf } from '../../shared/access/login-state.ts';
import { parseAllow } from '../../shared/access/parse-allow.ts';
import { type Action, actionsOf, mayReadDrafts, mayReadHistory } from '../../shared/access/rights.ts';
import { refusedForm } from '../../shared/refused-form.ts';
import type { Resource, ResourceResult } from '../../shared/resource.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { AccessControl } from './access-control.ts';
import { describeToken, rightNames } from './describe-token.ts';
import { LOGIN_FORM, parseRoleRequest, parseSwitches, ROLE_FORM } from './login-request.ts';
import type { RoleCommands } from './role-commands.ts';
import type { TokenCommands } from './token-commands.ts';
import { PUBLIC_FORM, parseTokenRequest, RIGHTS_FORM, TOKEN_FORM } from './token-request.ts';

export type AccessParts = {
  readonly registry: SchemaRegistry;
  readonly access: AccessControl;
  readonly tokens: TokenCommands;
  readonly roles: RoleCommands;
};

/**
 * Tokens, the rights of callers without one, the roles of users, and the switches of the login. An answer is sent when the change is in
 * force in this process. Other processes apply the change when they read it from the log.
 */
export const ACCESS_RESOURCES: readonly Resource<AccessParts>[] = [
  {
    name: 'listTokens',
    summary: 'List tokens, including revoked ones',
    method: 'GET',
    path: '/_varve/tokens',
    run({ access, registry }) {
      const all = [...access.state().tokens.values()];
      return { data: all.map((token) => describeToken(token, registry, Date.now())) };
    },
  },
  {
    name: 'createToken',
    summary: 'Create a token, and show it once',
    method: 'POST',
    path: '/_varve/tokens',
    body: TOKEN_FORM,
    status: 201,
    async run({ access, registry, tokens }, { data }) {
      const parsed = parseTokenRequest(data, () => registry, Date.now());
      if (parsed.kind === 'problems') throw refusedForm(parsed.problems);
      const { token, secret, position } = await tokens.create(parsed.value);
      await access.applied(position);
      return {
        data: { ...describeToken(token, registry, Date.now()), accessKey: secret },
        meta: { accessKey: 'is shown once and not stored' },
        position,
      };
    },
  },
  {
    name: 'revokeToken',
    summary: 'Revoke a token',
    method: 'DELETE',
    path: '/_varve/tokens/:id',
    status: 204,
    async run({ access, tokens }, { parameter }) {
      const { position } = await tokens.revoke(parameter('id'));
      await access.applied(position);
      return { position };
    },
  },
  {
    name: 'listRights',
    summary: 'List the rights that tokens, roles and callers without a token can have',
    method: 'GET',
    path: '/_varve/possible-rights',
    run: ({ registry }) => ({ data: possibleRights(registry) }),
  },
  {
    name: 'getPublicRights',
    summary: 'Read the rights of callers without a token',
    method: 'GET',
    path: '/_varve/public',
    run: presentPublic,
  },
  {
    name: 'setPublicRights',
    summary: 'Set the rights of callers without a token',
    method: 'PUT',
    path: '/_varve/public',
    body: PUBLIC_FORM,
    async run(parts, { data }) {
      const { position } = await parts.tokens.setPublic(publicRights(data, parts.registry));
      if (position !== undefined) await parts.access.applied(position);
      return presentPublic(parts);
    },
  },
  {
    name: 'listRoles',
    summary: 'List the roles of users',
    method: 'GET',
    path: '/_varve/roles',
    run: ({ access, registry }) => ({
      data: [...rolesOf(access.state().login).values()].map((role) => presentRole(role, registry)),
    }),
  },
  {
    name: 'defineRole',
    summary: 'Define a role of users; members that the body omits stay as they are',
    method: 'PUT',
    path: '/_varve/roles/:type',
    body: ROLE_FORM,
    async run(parts, { parameter, data }) {
      const { access, registry } = parts;
      const parsed = parseRoleRequest(parameter('type'), data, access.state().login, registry);
      if (parsed.kind === 'problems') throw refusedForm(parsed.problems);
      const position = await changeRoles(parts, [parsed.value], {});
      const role = rolesOf(access.state().login).get(parsed.value.id);
      return { data: role === undefined ? null : presentRole(role, registry), position };
    },
  },
  {
    name: 'getLogin',
    summary: 'Read the switches of the login',
    method: 'GET',
    path: '/_varve/login',
    run: ({ access }) => ({ data: access.state().login.switches }),
  },
  {
    name: 'setLogin',
    summary: 'Change switches of the login; those that the body omits stay as they are',
    method: 'PUT',
    path: '/_varve/login',
    body: LOGIN_FORM,
    async run(parts, { data }) {
      const parsed = parseSwitches(data, parts.access.state().login);
      if (parsed.kind === 'problems') throw refusedForm(parsed.problems);
      const position = await changeRoles(parts, [], parsed.value);
      return { data: parts.access.state().login.switches, position };
    },
  },
];

async function changeRoles(
  { access, roles }: AccessParts,
  ...changes: Parameters<RoleCommands['change']>
): Promise<bigint | undefined> {
  const { position } = await roles.change(...changes);
  if (position !== undefined) await access.applied(position);
  return position;
}

function presentPublic({ access, registry }: AccessParts): ResourceResult {
  const { development, publicRights: rights } = access.state();
  return { data: { development, allow: rightNames(rights, registry) } };
}

/** Actions of a content type that rights can name, such as `find` in `restaurant.find`. */
export type PossibleRights = {
  /** Singular name. */
  readonly type: string;
  readonly uid: string;
  readonly actions: readonly Action[];
};

function possibleRights({ contentTypes }: SchemaRegistry): readonly PossibleRights[] {
  return [...contentTypes.values()].map((type) => ({
    type: type.singularName,
    uid: type.uid,
    actions: actionsOf(type),
  }));
}

/** A role of users for people and programs. */
export type DescribedRole = ReturnType<typeof presentRole>;

function presentRole({ id, type, name, description, rights, login }: Role, registry: SchemaRegistry) {
  return {
    id,
    type,
    name,
    description,
    allow: rightNames(rights, registry),
    drafts: mayReadDrafts(rights),
    history: mayReadHistory(rights),
    login: [...login].sort(),
  };
}

function publicRights(data: unknown, registry: SchemaRegistry) {
  const { allow, ...others } = (data ?? {}) as { readonly allow?: unknown };
  const unknown = Object.keys(others).map((path) => ({
    path,
    message: 'is unknown: callers without a token have only allow',
  }));
  if (unknown.length > 0) throw refusedForm(unknown);
  const form = RIGHTS_FORM.safeParse(allow);
  if (!form.success) throw refusedForm(form.error.issues.map(({ message }) => ({ path: 'allow', message })));
  const parsed = parseAllow(form.data, registry);
  if (parsed.kind === 'allowed') return parsed.allowed;
  throw refusedForm(parsed.problems.map((message) => ({ path: 'allow', message })));
}
