import type { FastifyInstance } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';

/** Paths that every process answers, whatever its role. */
const OWN_PATHS = /^\/(_health|_varve\/)/;

/** Refuses reads in a process for writes. Other processes answer reads, which would take its time. */
export function refuseReads(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    done(isRead && !OWN_PATHS.test(request.url) ? refusedRead() : undefined);
  });
}

/** Returns the refusal of a read by a process for writes. */
export function refusedRead(): RequestError {
  return new RequestError('writes-only', 'This process answers no reads: ask varve api or varve serve', {
    accepted: ['POST', 'PUT', 'DELETE'],
  });
}
