import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NO_RIGHTS } from '../../shared/access/rights.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { ErrorEnvelope } from './answers/error-envelope.ts';
import { reportError } from './answers/report-error.ts';
import { JSON_HEADERS, METHOD_NOT_ALLOWED, SECURITY_HEADERS } from './answers/responses.ts';

/** A header, because the body is the one of Strapi. */
const NO_PUBLIC_RIGHTS =
  'development mode has ended and callers without a token have no rights; the option --public gives them some';

/** Answers errors of routes, and requests that reach no route. */
export function refuseUnrouted(app: FastifyInstance, measureUnrouted: (reply: FastifyReply) => void): void {
  app.setErrorHandler((error, request, reply) => {
    const body = reportError(error, request);
    if (body.error.status === 403 && mayNobodyWithoutToken(request))
      reply.header('varve-hint', NO_PUBLIC_RIGHTS);
    sendError(reply.header('x-request-id', request.id), body);
  });
  app.setNotFoundHandler((request, reply) => {
    measureUnrouted(reply);
    // Strapi has a catch-all route for GET, so an unknown path refuses every other method (case http-017).
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      reply
        .code(405)
        .headers({ ...SECURITY_HEADERS, allow: 'GET, HEAD', 'cache-control': 'no-store' })
        .type('text/plain')
        .send(METHOD_NOT_ALLOWED);
      return;
    }
    throw new RequestError('not-found', 'Not Found');
  });
}

/** Returns whether the caller sent no token, while no public rights were ever set. */
function mayNobodyWithoutToken({ rights, headers }: FastifyRequest): boolean {
  return rights === NO_RIGHTS && headers.authorization === undefined;
}

/** Sends an error. */
export function sendError(reply: FastifyReply, body: ErrorEnvelope): void {
  reply.header('cache-control', 'no-store');
  if (body.error.status === 503) reply.header('retry-after', '1');
  reply.code(body.error.status).headers(JSON_HEADERS).send(JSON.stringify(body));
}
