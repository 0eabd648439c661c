import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Role, rolesOf } from '../../../shared/access/login-state.ts';
import { mayReadDrafts } from '../../../shared/access/rights.ts';
import { rightNames } from '../../access/describe-token.ts';
import { parseRoleRequest, parseSwitches } from '../../access/login-request.ts';
import type { RoleCommands } from '../../access/role-commands.ts';
import { sendJson } from '../answers/send-json.ts';
import { POSITION_HEADER } from '../requests/await-position.ts';
import { partOfPath, register } from './entry-routes.ts';
import { WITH_DATA } from './refuse-unknown-names.ts';
import { dataOf, refused, type TokenRoutesOptions } from './token-routes.ts';

export type RoleRoutesOptions = TokenRoutesOptions & { readonly roles: RoleCommands };

/** `/_varve/roles` and `/_varve/login`: what the roles of users may do, and the switches of the login. */
export function registerRoles(app: FastifyInstance, options: RoleRoutesOptions): void {
  const { registry, access, roles } = options;
  const state = () => access.state().login;
  const change = async (reply: FastifyReply, ...changes: Parameters<RoleCommands['change']>) => {
    const { position } = await roles.change(...changes);
    if (position === undefined) return;
    await access.applied(position);
    reply.header(POSITION_HEADER, String(position));
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
    GET: async (_request, reply) =>
      sendJson(reply, 200, { data: [...rolesOf(state()).values()].map(present), meta: {} }),
  });
  register(
    app,
    '/_varve/roles/:type',
    {
      PUT: async (request, reply) => {
        const parsed = parseRoleRequest(partOfPath(request, 'type'), dataOf(request.body), state(), registry);
        if (parsed.kind === 'problems') throw refused(parsed.problems);
        await change(reply, [parsed.value], {});
        const role = rolesOf(state()).get(parsed.value.id);
        sendJson(reply, 200, { data: role === undefined ? null : present(role), meta: {} });
      },
    },
    WITH_DATA,
  );
  register(
    app,
    '/_varve/login',
    {
      GET: async (_request, reply) => sendJson(reply, 200, { data: state().switches, meta: {} }),
      PUT: async (request, reply) => {
        const parsed = parseSwitches(dataOf(request.body), state());
        if (parsed.kind === 'problems') throw refused(parsed.problems);
        await change(reply, [], parsed.value);
        sendJson(reply, 200, { data: state().switches, meta: {} });
      },
    },
    WITH_DATA,
  );
}
