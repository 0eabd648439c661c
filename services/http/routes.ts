import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { RequestError } from '../../shared/request-error.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { type ContentApi, ENTRY_ACTIONS, type WriteAnswer } from './content-api.ts';
import { JSON_HEADERS, METHOD_NOT_ALLOWED, SECURITY_HEADERS } from './responses.ts';

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
type Handlers = { readonly [method in 'GET' | 'POST' | 'PUT' | 'DELETE']?: Handler };

/** `/api/<pluralName>`, `/api/<pluralName>/<documentId>` and the actions on an entry. */
export function registerCollectionType(app: FastifyInstance, api: ContentApi, type: ContentType): void {
  const path = `/api/${type.pluralName}`;
  register(app, path, {
    GET: async (request, reply) => send(reply, 200, await api.list(type, queryOf(request))),
    POST: async (request, reply) =>
      sendWrite(reply, 201, await api.create(type, queryOf(request), request.body)),
  });
  register(app, `${path}/:documentId`, {
    GET: async (request, reply) =>
      send(reply, 200, await api.entry(type, parameter(request, 'documentId'), queryOf(request))),
    PUT: async (request, reply) =>
      sendWrite(
        reply,
        200,
        await api.update(type, parameter(request, 'documentId'), queryOf(request), request.body),
      ),
    DELETE: async (request, reply) => {
      await api.remove(type, parameter(request, 'documentId'), queryOf(request));
      sendNothing(reply);
    },
  });
  for (const action of ENTRY_ACTIONS) {
    register(app, `${path}/:documentId/actions/${action}`, {
      POST: async (request, reply) =>
        sendWrite(
          reply,
          200,
          await api.act(type, parameter(request, 'documentId'), action, queryOf(request)),
        ),
    });
  }
}

/** `/api/<singularName>`: the one document of the type. */
export function registerSingleType(app: FastifyInstance, api: ContentApi, type: ContentType): void {
  register(app, `/api/${type.singularName}`, {
    GET: async (request, reply) => send(reply, 200, await api.single(type, queryOf(request))),
    PUT: async (request, reply) =>
      sendWrite(reply, 200, await api.putSingle(type, queryOf(request), request.body)),
    DELETE: async (request, reply) => {
      await api.removeSingle(type, queryOf(request));
      sendNothing(reply);
    },
  });
}

/** `/api/users`: by numeric id, without versions and locales (SEMANTICS section 11). */
export function registerUsers(app: FastifyInstance, api: ContentApi): void {
  register(app, '/api/users', {
    GET: async (request, reply) => send(reply, 200, await api.users.list(queryOf(request))),
    POST: async (request, reply) => sendWrite(reply, 201, await api.users.create(request.body)),
  });
  register(app, '/api/users/count', {
    GET: async (request, reply) => send(reply, 200, await api.users.count(queryOf(request))),
  });
  // Who calls is not known without login, which Varve leaves to others.
  register(app, '/api/users/me', {
    GET: async () => {
      throw new RequestError(403, 'ForbiddenError', 'Forbidden');
    },
  });
  register(app, '/api/users/:id', {
    GET: async (request, reply) => {
      const user = await api.users.one(parameter(request, 'id'), queryOf(request));
      if (user === undefined) sendNothing(reply);
      else send(reply, 200, user);
    },
    PUT: async (request, reply) =>
      sendWrite(reply, 200, await api.users.update(parameter(request, 'id'), request.body)),
    DELETE: async (request, reply) => sendWrite(reply, 200, await api.users.remove(parameter(request, 'id'))),
  });
}

/** One path: its methods, and 405 with `Allow` for all others. */
function register(app: FastifyInstance, url: string, handlers: Handlers): void {
  const served = Object.keys(handlers);
  for (const [method, handler] of Object.entries(handlers)) {
    app.route({ method: method as HTTPMethods, url, handler: handler as Handler });
  }
  const known = served.includes('GET') ? [...served, 'HEAD'] : served;
  const allow = [...known, 'OPTIONS'].join(', ');
  const others = app.supportedMethods.filter((method) => !known.includes(method)) as HTTPMethods[];
  app.route({ method: others, url, handler: async (request, reply) => refuseMethod(request, reply, allow) });
}

function refuseMethod(request: FastifyRequest, reply: FastifyReply, allow: string): void {
  reply.headers(SECURITY_HEADERS).header('allow', allow);
  if (request.method === 'OPTIONS') reply.code(204).send();
  else reply.code(405).type('text/plain; charset=utf-8').send(METHOD_NOT_ALLOWED);
}

/** The query string as it came, without the question mark. */
function queryOf(request: FastifyRequest): string {
  const url = request.raw.url ?? '';
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

function parameter(request: FastifyRequest, name: string): string {
  return (request.params as Readonly<Record<string, string>>)[name] ?? '';
}

function send(reply: FastifyReply, status: number, body: Uint8Array): void {
  reply.hijack();
  reply.raw.writeHead(status, { ...JSON_HEADERS, 'content-length': body.length }).end(body);
}

/** `Varve-Position` is where in the log the write stands. */
function sendWrite(reply: FastifyReply, status: number, { documentId, position, body }: WriteAnswer): void {
  reply.headers(JSON_HEADERS).header('varve-position', String(position));
  if (body !== null) reply.code(status).send(body);
  else reply.code(202).send(JSON.stringify({ data: { documentId }, meta: { position: String(position) } }));
}

function sendNothing(reply: FastifyReply): void {
  reply.code(204).headers(SECURITY_HEADERS).send();
}
