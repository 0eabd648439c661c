import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseJsonBody } from './json-body.ts';

/**
 * Parses JSON. Text and forms are accepted and ignored, so that the handler says what is missing, as Strapi does (case
 * `write.body-016`); every other type is a 415.
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
}
