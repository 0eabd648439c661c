import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import { parseJsonBody } from './json-body.ts';

/** Type of an upload. Its routes have a parser for it. */
const FORM = 'multipart/form-data';

/**
 * Parses JSON bodies. Accepts and ignores text and forms, so that the handler says what is missing, as Strapi does (case `write.body-016`).
 * Every other type is a 415. A DELETE without a body may name any type, because some clients name one in every request.
 */
export function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^application\/(.+\+)?json(;|$)/i,
    { parseAs: 'string' },
    async (request: FastifyRequest, body: string | Buffer) => {
      request.sentJson = body as string;
      return parseJsonBody(body as string);
    },
  );
  app.addContentTypeParser(
    ['text/plain', 'application/x-www-form-urlencoded'],
    { parseAs: 'buffer' },
    async () => undefined,
  );
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    if (request.is404 || (request.method === 'DELETE' && hasNoBody(request))) return;
    throw new RequestError('media-type-not-allowed', 'Unsupported Media Type', {
      header: 'Content-Type',
      found: request.headers['content-type'] ?? null,
      accepted: [request.server.hasContentTypeParser(FORM) ? FORM : 'application/json'],
    });
  });
}

/** RFC 9112 section 6.3: a request with neither header has no body. */
function hasNoBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}
