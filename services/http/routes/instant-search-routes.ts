import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import type { AccessControl } from '../../access/access-control.ts';
import { algoliaParameter } from '../../instant-search/algolia-parameters.ts';
import type { InstantTerms } from '../../instant-search/answer-queries.ts';
import type { InstantSearchApi } from '../../instant-search/instant-search-api.ts';
import { refuseInUrl, refuseService } from '../../instant-search/supported-parameters.ts';
import { algoliaError } from '../answers/algolia-error.ts';
import type { ErrorEnvelope } from '../answers/error-envelope.ts';
import { reportError } from '../answers/report-error.ts';
import { JSON_HEADERS } from '../answers/responses.ts';
import { sendJson } from '../answers/send-json.ts';
import { isLocalUrl } from '../requests/guard-development.ts';
import { parseJsonBody } from '../requests/json-body.ts';
import { repeatedName } from '../requests/repeated-name.ts';
import { partOfPath, queryOf } from './entry-routes.ts';

const KEY = 'x-algolia-api-key';
/** Key of a caller without a token, because Algolia's clients refuse an empty key. */
const NO_KEY = 'public';
/** Maximum length of a key that is passed on. No token is as long, so a longer key is invalid even if it is cut. */
const MAX_KEY = 1_000;

/**
 * Adapts a scope to Algolia's clients: their keys, their bodies, and errors in the only form that they read. Call this before anything else
 * is registered in the scope. Calls `measureUnrouted` for an answer to a path that does not exist.
 */
export function adaptAlgoliaRequests(
  scope: FastifyInstance,
  measureUnrouted: (reply: FastifyReply) => void,
): void {
  scope.removeAllContentTypeParsers();
  // Clients in browsers send JSON as text/plain, because that needs no CORS preflight.
  scope.addContentTypeParser(
    '*',
    { parseAs: 'string' },
    async (_request: FastifyRequest, body: string | Buffer) => parseBody(body as string),
  );
  scope.addHook('onRequest', (request, _reply, done) => {
    const key = keyOf(request);
    if (key !== undefined && key !== NO_KEY)
      request.headers.authorization = `Bearer ${key.slice(0, MAX_KEY)}`;
    done();
  });
  scope.addHook('preParsing', async (request) => {
    refuseInUrl(new URLSearchParams(queryOf(request)).keys());
    const { 'content-encoding': encoding = 'identity' } = request.headers;
    if (encoding !== 'identity')
      throw new RequestError('not-supported', `Bodies with Content-Encoding ${encoding} are not read`, {
        found: encoding,
        accepted: 'JSON that is not compressed',
      });
  });
  scope.setErrorHandler((error, request, reply) =>
    sendAlgoliaError(reply.header('x-request-id', request.id), reportError(error, request)),
  );
  scope.setNotFoundHandler((request, reply) => {
    measureUnrouted(reply);
    throw new RequestError('not-found', `${request.method} ${request.url.split('?', 1)[0]} does not exist`, {
      accepted: PATHS,
    });
  });
}

/** Sends an error in the form of Algolia's protocol. A 503 has `retry-after: 1`. */
export function sendAlgoliaError(reply: FastifyReply, envelope: ErrorEnvelope): void {
  const { status } = envelope.error;
  if (status === 503) reply.header('retry-after', '1');
  sendJson(reply, status, algoliaError(envelope));
}

/** Parses a body, and refuses an object that has a name twice: `JSON.parse` would ignore one of two filters. */
function parseBody(text: string): unknown {
  const body = parseJsonBody(text);
  const repeated = body === undefined ? undefined : repeatedName(text);
  if (repeated === undefined) return body;
  throw new RequestError('invalid-query', `The member '${repeated}' is there twice`, {
    found: repeated,
    accepted: 'each member of an object once',
  });
}

/** Lets pages of this machine read answers in development mode. For other pages there is `--cors`. */
export function admitLocalPages(scope: FastifyInstance, access: AccessControl): void {
  scope.addHook('onRequest', ({ headers: { origin } }, reply, done) => {
    const isListed = reply.getHeader('access-control-allow-origin') !== undefined;
    if (origin !== undefined && !isListed && access.state().development && isLocalUrl(origin)) {
      reply.header('access-control-allow-origin', origin).header('vary', 'Origin');
      reply.header('access-control-allow-methods', 'POST');
      reply.header('access-control-allow-headers', `content-type, authorization, ${KEY}, ${APPLICATION}`);
    }
    done();
  });
}

const APPLICATION = 'x-algolia-application-id, x-algolia-agent, x-algolia-usertoken';
const PATHS = ['/1/indexes/*/queries', '/1/indexes/:name/query', '/1/indexes/:name/facets/:facet/query'];

/** Registers the routes, relative to the prefix. */
export function registerInstantSearch(
  scope: FastifyInstance,
  apiOf: (request: FastifyRequest) => InstantSearchApi,
): void {
  const termsOf = createTerms();
  post(scope, '/indexes/:index/query', (request) =>
    apiOf(request).query(partOfPath(request, 'index'), request.body, termsOf(request)),
  );
  post(scope, '/indexes/:index/facets/:facet/query', (request) => {
    const target = { indexName: partOfPath(request, 'index'), facet: partOfPath(request, 'facet') };
    return apiOf(request).facetValues(target, request.body, termsOf(request));
  });
  post(scope, '/indexes/:index/queries', (request) => {
    const index = partOfPath(request, 'index');
    if (index === '*') return apiOf(request).queries(request.body, termsOf(request));
    throw new RequestError('not-found', `${index} has no queries: each query names its index`, {
      accepted: PATHS,
    });
  });
  post(scope, '/indexes/:index/recommendations', () => refuseService('recommend'));
  post(scope, '/events', async (request) => apiOf(request).events(request.body));
}

type Handler = (request: FastifyRequest) => Promise<Uint8Array>;

function post(scope: FastifyInstance, url: string, answer: Handler): void {
  scope.post(url, async (request, reply) => {
    reply.headers(JSON_HEADERS).send(await answer(request));
  });
  scope.options(url, async (_request, reply) => reply.code(204).header('allow', 'POST, OPTIONS').send());
  const others = scope.supportedMethods.filter((method) => method !== 'POST' && method !== 'OPTIONS');
  scope.route({
    method: others as HTTPMethods[],
    url,
    handler: async (request, reply) => {
      reply.header('allow', 'POST, OPTIONS');
      throw new RequestError('method-not-served', `${request.method} is not served here`, {
        accepted: ['POST'],
      });
    },
  });
}

/** Returns the key in the query string, where browsers send it, or in the header. */
function keyOf(request: FastifyRequest): string | undefined {
  const query = queryOf(request);
  const inQuery = query.includes(KEY) ? new URLSearchParams(query).get(KEY) : null;
  const inHeader = request.headers[KEY];
  return inQuery ?? (typeof inHeader === 'string' ? inHeader : undefined);
}

/** Returns the terms of requests. Each ignored parameter is logged once in the life of the process. */
function createTerms(): (request: FastifyRequest) => InstantTerms {
  const logged = new Set<string>();
  return ({ id, raw, log }) => ({
    id,
    isWanted: () => !raw.socket.destroyed,
    now: () => performance.now(),
    ignored(names) {
      for (const name of names) {
        if (logged.has(name)) continue;
        logged.add(name);
        log.warn({ parameter: name }, `the parameter ${name} has no effect: ${algoliaParameter(name)?.note}`);
      }
    },
  });
}
