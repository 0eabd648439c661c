import type { FastifyInstance } from 'fastify';
import type { Status } from '../../operator/status.ts';
import { register } from './entry-routes.ts';
import { sendData } from './send-data.ts';

/** Registers `/_varve/projections`: the data of `varve status --json`. */
export function registerProjections(app: FastifyInstance, status: () => Promise<Status>): void {
  register(app, '/_varve/projections', {
    GET: async (_request, reply) => sendData(reply, await status()),
  });
}
