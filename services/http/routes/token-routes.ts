import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseAllow } from '../../../shared/access/parse-allow.ts';
import type { FormProblem } from '../../../shared/form-problems.ts';
import { RequestError } from '../../../shared/request-error.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import type { AccessControl } from '../../access/access-control.ts';
import { describeToken, rightNames } from '../../access/describe-token.ts';
import type { TokenCommands } from '../../access/token-commands.ts';
import { parseTokenRequest, RIGHTS_FORM } from '../../access/token-request.ts';
import { SECURITY_HEADERS } from '../answers/responses.ts';
import { POSITION_HEADER } from '../requests/await-position.ts';
import { idOf, register } from './entry-routes.ts';
import { WITH_DATA } from './refuse-unknown-names.ts';
import { sendData } from './send-data.ts';

export type TokenRoutesOptions = {
  readonly registry: SchemaRegistry;
  readonly access: AccessControl;
  readonly tokens: TokenCommands;
};

/**
 * Registers `/_varve/tokens` and `/_varve/public`: the functions of `varve token`. An answer is sent when the change is in force in this
 * process. Other processes apply the change when they read it from the log.
 */
export function registerTokens(app: FastifyInstance, options: TokenRoutesOptions): void {
  const { registry, access, tokens } = options;
  register(app, '/_varve/tokens', {
    config: WITH_DATA,
    GET: async (_request, reply) => {
      const all = [...access.state().tokens.values()];
      const data = all.map((token) => describeToken(token, registry, Date.now()));
      sendData(reply, data);
    },
    POST: async (request, reply) => {
      const parsed = parseTokenRequest(dataOf(request.body), () => registry, Date.now());
      if (parsed.kind === 'problems') throw refused(parsed.problems);
      const { token, secret, position } = await tokens.create(parsed.value);
      await access.applied(position);
      const data = { ...describeToken(token, registry, Date.now()), accessKey: secret };
      const meta = { accessKey: 'is shown once and not stored' };
      sendData(reply, data, { status: 201, meta, position });
    },
  });
  register(app, '/_varve/tokens/:id', {
    DELETE: async (request, reply) => {
      const { position } = await tokens.revoke(idOf(request));
      await access.applied(position);
      reply.header(POSITION_HEADER, String(position));
      reply.code(204).headers(SECURITY_HEADERS).send();
    },
  });
  register(app, '/_varve/public', {
    config: WITH_DATA,
    GET: async (_request, reply) => sendPublic(reply, options),
    PUT: async (request, reply) => {
      const { position } = await tokens.setPublic(publicRights(dataOf(request.body), registry));
      if (position !== undefined) await access.applied(position);
      sendPublic(reply, options);
    },
  });
}

function sendPublic(reply: FastifyReply, { access, registry }: TokenRoutesOptions): void {
  const { development, publicRights } = access.state();
  sendData(reply, { development, allow: rightNames(publicRights, registry) });
}

function publicRights(data: unknown, registry: SchemaRegistry) {
  const { allow, ...others } = (data ?? {}) as { readonly allow?: unknown };
  const unknown = Object.keys(others).map((path) => ({
    path,
    message: 'is unknown: callers without a token have only allow',
  }));
  if (unknown.length > 0) throw refused(unknown);
  const form = RIGHTS_FORM.safeParse(allow);
  if (!form.success) throw refused(form.error.issues.map(({ message }) => ({ path: 'allow', message })));
  const parsed = parseAllow(form.data, registry);
  if (parsed.kind === 'allowed') return parsed.allowed;
  throw refused(parsed.problems.map((message) => ({ path: 'allow', message })));
}

/** Returns the member `data` of a body, which may have any type. */
export function dataOf(body: unknown): unknown {
  return (body as { readonly data?: unknown } | undefined)?.data;
}

/** Returns the 400 for a request about tokens, roles or webhooks, with all of its problems. */
export function refused(
  problems: readonly FormProblem[],
  code: 'invalid-token-request' | 'invalid-webhook' = 'invalid-token-request',
): RequestError {
  const [first] = problems;
  const message =
    problems.length === 1 ? `${first?.path} ${first?.message}` : `${problems.length} errors occurred`;
  return new RequestError(code, message.trim(), { errors: problems });
}
