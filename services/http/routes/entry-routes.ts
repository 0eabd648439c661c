import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
} from 'fastify';
import type { ContentType } from '../../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import type { LoginApi } from '../../login/login-api.ts';
import { acceptedBody } from '../answers/accepted-body.ts';
import { JSON_HEADERS, METHOD_NOT_ALLOWED, SECURITY_HEADERS } from '../answers/responses.ts';
import { presentInV4, V4_FORMAT, V4_HEADER } from '../answers/v4-format.ts';
import { answerRead, type Delivery, sendOwn } from '../api/cacheable.ts';
import {
  type Asking,
  type ContentApi,
  ENTRY_ACTIONS,
  type EntryAction,
  type WriteAnswer,
} from '../api/content-api.ts';
import { forbidden } from '../api/guard-content-api.ts';
import { POSITION_HEADER } from '../requests/await-position.ts';
import { asksForRole, withRole } from './users-role.ts';

/** Configuration of paths whose GET answers with content, also with that of the past. */
export const CONTENT_PATH: FastifyContextConfig = { past: 'content' };
const USERS_PATH: FastifyContextConfig = { past: 'users' };

export type RouteContext = {
  readonly app: FastifyInstance;
  /** Returns the API for the sender of a request. */
  readonly apiOf: (request: FastifyRequest) => ContentApi;
  /** Returns the rules for caches about answers to that sender. */
  readonly deliveryOf: (request: FastifyRequest) => Delivery;
  readonly registry: SchemaRegistry;
  readonly live: LiveLists;
};

/** Answers lists as streams. */
export type LiveLists = {
  /** Returns whether a request asks for a stream. It looks at one header only, because it is called for each list. */
  wants(request: FastifyRequest): boolean;
  answer(type: ContentType, request: FastifyRequest, reply: FastifyReply): Promise<void>;
};

export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<void> | undefined;
type Handlers = { readonly [method in 'GET' | 'POST' | 'PUT' | 'DELETE']?: Handler };
/** Methods of a path. `config` is the same for all of them. */
type Path = Handlers & { readonly config?: FastifyContextConfig };

/**
 * Registers `/api/<pluralName>`, its `_suggest`, `/api/<pluralName>/<documentId>`, and the actions on an entry, which `orScheduled` may let
 * wait.
 */
export function registerCollectionType(
  context: RouteContext,
  type: ContentType,
  orScheduled: (atOnce: Handler, action: EntryAction) => Handler = (atOnce) => atOnce,
): void {
  const { app, live } = context;
  const { read, write, remove } = entryHandlers(context, type);
  const path = `/api/${type.pluralName}`;
  const targetOf = (request: FastifyRequest) => ({ type, documentId: idOf(request) });
  const list = read((api, query, asking) => api.list(type, query, asking));
  register(app, path, {
    config: CONTENT_PATH,
    GET: (request, reply) => (live.wants(request) ? live.answer(type, request, reply) : list(request, reply)),
    POST: write(201, (api, query, { body, command }) => api.create(type, query, body, command)),
  });
  register(app, `${path}/_suggest`, {
    GET: (request, reply) =>
      answerRead(context.deliveryOf(request), request, reply, (asking) =>
        context.apiOf(request).suggest(type, queryOf(request), asking),
      ),
  });
  register(app, `${path}/:id`, {
    config: CONTENT_PATH,
    GET: read((api, query, asking, request) => api.entry(type, idOf(request), query, asking)),
    PUT: write(200, (api, query, request) =>
      api.update(targetOf(request), query, request.body, request.command),
    ),
    DELETE: remove((api, query, request) => api.remove(targetOf(request), query, request.command)),
  });
  for (const action of ENTRY_ACTIONS) {
    const atOnce = write(200, (api, query, request) =>
      api.act(targetOf(request), action, query, request.command),
    );
    register(app, `${path}/:id/actions/${action}`, { POST: orScheduled(atOnce, action) });
  }
}

/** Registers `/api/<singularName>`: the one document of the type. */
export function registerSingleType(context: RouteContext, type: ContentType): void {
  const { read, write, remove } = entryHandlers(context, type);
  register(context.app, `/api/${type.singularName}`, {
    config: CONTENT_PATH,
    GET: read((api, query, asking) => api.single(type, query, asking)),
    PUT: write(200, (api, query, { body, command }) => api.putSingle(type, query, body, command)),
    DELETE: remove((api, query, { command }) => api.removeSingle(type, query, command)),
  });
}

/** Registers `/api/users`. Users have numeric ids, and no versions or locales (SEMANTICS section 11). */
export function registerUsers({
  app,
  apiOf,
  deliveryOf,
  login,
}: RouteContext & { readonly login: LoginApi | undefined }): void {
  const users = (request: FastifyRequest) => apiOf(request).users;
  register(app, '/api/users', {
    config: USERS_PATH,
    GET: (request, reply) =>
      answerRead(deliveryOf(request), request, reply, (asking) =>
        users(request).list(queryOf(request), asking),
      ),
    POST: async (request, reply) =>
      sendWrite(reply, 201, await users(request).create(request.body, request.command)),
  });
  register(app, '/api/users/count', {
    config: USERS_PATH,
    GET: (request, reply) =>
      answerRead(deliveryOf(request), request, reply, () => users(request).count(queryOf(request))),
  });
  register(app, '/api/users/me', {
    GET: async (request, reply) => {
      const { signedIn } = request;
      const actions = login?.actionsOf(signedIn, request.rights);
      if (signedIn?.user === undefined || actions?.has('user.me') !== true) throw forbidden();
      const user = await users(request).me(signedIn.user.id, queryOf(request));
      const shown = actions.has('role.find') && asksForRole(queryOf(request));
      const role = shown ? login?.roleOf(signedIn.user.id) : undefined;
      if (user === undefined) sendNothing(reply);
      else sendOwn(deliveryOf(request), reply, role === undefined ? user : withRole(user, role));
    },
  });
  register(app, '/api/users/:id', {
    config: USERS_PATH,
    GET: async (request, reply) => {
      const user = await users(request).one(idOf(request), queryOf(request));
      if (user === undefined) sendNothing(reply);
      else sendOwn(deliveryOf(request), reply, user);
    },
    PUT: async (request, reply) =>
      sendWrite(reply, 200, await users(request).update(idOf(request), request.body, request.command)),
    DELETE: async (request, reply) =>
      sendWrite(reply, 200, await users(request).remove(idOf(request), request.command)),
  });
}

/** Registers `GET /api/i18n/locales`. */
export function registerLocales({ app, apiOf, deliveryOf }: RouteContext): void {
  register(app, '/api/i18n/locales', {
    config: { past: 'locales' },
    GET: (request, reply) => answerRead(deliveryOf(request), request, reply, apiOf(request).locales),
  });
}

/** Carries a write out. */
type Execute<Result> = (api: ContentApi, query: string, request: FastifyRequest) => Promise<Result>;
type Read = (api: ContentApi, query: string, asking: Asking, request: FastifyRequest) => Promise<Uint8Array>;

/** Creates handlers that answer with entries of a type, in the form that the request asks for. */
function entryHandlers({ registry, apiOf, deliveryOf }: RouteContext, type: ContentType) {
  const isV4 = (request: FastifyRequest) => request.headers[V4_HEADER] === V4_FORMAT;
  return {
    read:
      (answer: Read): Handler =>
      (request, reply) =>
        answerRead(deliveryOf(request), request, reply, (asking) => {
          const body = answer(apiOf(request), queryOf(request), asking, request);
          return isV4(request) ? body.then((bytes) => presentInV4(registry, type, bytes)) : body;
        }),
    write:
      (status: number, execute: Execute<WriteAnswer>): Handler =>
      async (request, reply) => {
        const answer = await execute(apiOf(request), queryOf(request), request);
        const { body } = answer;
        const shaped = body !== null && isV4(request) ? presentInV4(registry, type, body) : body;
        sendWrite(reply, status, { ...answer, body: shaped });
      },
    remove:
      (execute: Execute<bigint>): Handler =>
      async (request, reply) => {
        const position = await execute(apiOf(request), queryOf(request), request);
        reply.header(POSITION_HEADER, String(position));
        sendNothing(reply);
      },
  };
}

/** Answers a GET of one entry. */
export function readEntry(context: RouteContext, type: ContentType, documentId: string): Handler {
  const { read } = entryHandlers(context, type);
  return read((api, query, asking) => api.entry(type, documentId, query, asking));
}

/** Registers the methods of a path. All other methods are a 405 with `Allow`. */
export function register(app: FastifyInstance, url: string, { config = {}, ...handlers }: Path): void {
  const served = Object.keys(handlers);
  for (const [method, handler] of Object.entries(handlers)) {
    app.route({ method: method as HTTPMethods, url, handler, config });
  }
  const known = served.includes('GET') ? [...served, 'HEAD'] : served;
  const allow = [...known, 'OPTIONS'].join(', ');
  const others = app.supportedMethods.filter((method) => !known.includes(method)) as HTTPMethods[];
  app.route({
    method: others,
    url,
    handler: async (request, reply) => refuseMethod(request, reply, allow),
    config: { parameters: 'all', members: 'all' },
  });
}

function refuseMethod(request: FastifyRequest, reply: FastifyReply, allow: string): void {
  // Without `no-store` caches may keep a 405.
  reply.headers(SECURITY_HEADERS).header('allow', allow).header('cache-control', 'no-store');
  if (request.method === 'OPTIONS') reply.code(200).send();
  else reply.code(405).type('text/plain; charset=utf-8').send(METHOD_NOT_ALLOWED);
}

/** Returns the raw query string, without the question mark. */
export function queryOf(request: FastifyRequest): string {
  const url = request.raw.url ?? '';
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}

/** Returns a part of the path by its name in the route; an empty text if the route has no such part. */
export function partOfPath({ params }: FastifyRequest, name: string): string {
  return (params as { readonly [name: string]: string | undefined })[name] ?? '';
}

/** Returns the part `:id` of the path; an empty text if the route has no such part. */
export function idOf(request: FastifyRequest): string {
  return partOfPath(request, 'id');
}

/** Sends the answer to a write, with its position in the log. It is a 202 without the entry if reads do not show the write yet. */
export function sendWrite(reply: FastifyReply, status: number, answer: WriteAnswer): void {
  const { documentId, position, body, unshown } = answer;
  reply.headers(JSON_HEADERS).header(POSITION_HEADER, String(position));
  if (body !== null) reply.code(status).send(body);
  else reply.code(202).send(acceptedBody({ documentId }, position, unshown));
}

function sendNothing(reply: FastifyReply): void {
  reply.code(204).headers(SECURITY_HEADERS).header('cache-control', 'no-store').send();
}
