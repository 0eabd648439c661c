import type { FastifyInstance } from 'fastify';
import { type Role, rolesOf } from '../../../shared/access/login-state.ts';
import { mayReadDrafts } from '../../../shared/access/rights.ts';
import { rightNames } from '../../access/describe-token.ts';
import { parseRoleRequest, parseSwitches } from '../../access/login-request.ts';
import type { RoleCommands } from '../../access/role-commands.ts';
import { partOfPath, register } from './entry-routes.ts';
import { WITH_DATA } from './refuse-unknown-names.ts';
import { sendData } from './send-data.ts';
import { dataOf, refused, type TokenRoutesOptions } from './token-routes.ts';

export type RoleRoutesOptions = TokenRoutesOptions & { readonly roles: RoleCommands };

/** Registers `/_varve/roles` and `/_varve/login`: the rights of the roles of users, and the switches of the login. */
export function registerRoles(app: FastifyInstance, options: RoleRoutesOptions): void {
  const { registry, access, roles } = options;
  const state = () => access.state().login;
  const change: RoleCommands['change'] = async (...changes) => {
    const changed = await roles.change(...changes);
    if (changed.position !== undefined) await access.applied(changed.position);
    return changed;
  };
  const present = ({ id, type, name, description, rights, login }: Role) => ({
    id,
    type,
    name,
    description,
    allow: rightNames(rights, registry),
    drafts: mayReadDrafts(rights),
    login: [...login].sort(),
  });
  register(app, '/_varve/roles', {
    GET: async (_request, reply) => sendData(reply, [...rolesOf(state()).values()].map(present)),
  });
  register(app, '/_varve/roles/:type', {
    config: WITH_DATA,
    PUT: async (request, reply) => {
      const parsed = parseRoleRequest(partOfPath(request, 'type'), dataOf(request.body), state(), registry);
      if (parsed.kind === 'problems') throw refused(parsed.problems);
      const { position } = await change([parsed.value], {});
      const role = rolesOf(state()).get(parsed.value.id);
      sendData(reply, role === undefined ? null : present(role), { position });
    },
  });
  register(app, '/_varve/login', {
    config: WITH_DATA,
    GET: async (_request, reply) => sendData(reply, state().switches),
    PUT: async (request, reply) => {
      const parsed = parseSwitches(dataOf(request.body), state());
      if (parsed.kind === 'problems') throw refused(parsed.problems);
      const { position } = await change([], parsed.value);
      sendData(reply, state().switches, { position });
    },
  });
}
