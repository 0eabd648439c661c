import type { FastifyInstance } from 'fastify';
import type { Status } from '../../operator/status.ts';
import { JSON_HEADERS } from '../answers/responses.ts';
import { register } from './entry-routes.ts';

/**
 * `/_varve/projections`: the data of `varve status --json`, for callers with full access (in development mode
 * everyone).
 */
export function registerProjections(app: FastifyInstance, status: () => Promise<Status>): void {
  register(app, '/_varve/projections', {
    GET: async (_request, reply) => {
      const body = JSON.stringify({ data: await status(), meta: {} });
      reply.code(200).headers(JSON_HEADERS).header('cache-control', 'no-store').send(body);
    },
  });
}
