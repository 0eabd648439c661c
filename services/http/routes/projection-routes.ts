import type { FastifyInstance } from 'fastify';
import type { Status } from '../../operator/status.ts';
import type { State } from '../../state/state.ts';
import { register } from './entry-routes.ts';
import { sendData } from './send-data.ts';

/** Registers `/_varve/projections`: the data of `varve status --json`. */
export function registerProjections(app: FastifyInstance, status: () => Promise<Status>): void {
  register(app, '/_varve/projections', {
    GET: async (_request, reply) => sendData(reply, await status()),
  });
}

/** Registers `/_varve/state`: the processes of the log, what is wrong, and what waits to be delivered. */
export function registerState(app: FastifyInstance, state: () => Promise<State>): void {
  register(app, '/_varve/state', {
    GET: async (_request, reply) => sendData(reply, await state()),
  });
}
