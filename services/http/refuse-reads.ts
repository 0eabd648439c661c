import type { FastifyInstance } from 'fastify';
import { RequestError } from '../../shared/request-error.ts';

/** What every process answers, whatever it is for. */
const OWN_PATHS = /^\/(_health|_varve\/)/;

/** In a process that is there for writes: reads would take its time, and belong to others. */
export function refuseReads(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    done(isRead && !OWN_PATHS.test(request.url) ? misplaced() : undefined);
  });
}

function misplaced(): RequestError {
  return new RequestError(404, 'NotFoundError', 'This process takes writes: ask varve api or varve serve', {
    accepted: ['POST', 'PUT', 'DELETE'],
  });
}
