import type { FastifyInstance } from 'fastify';
import { mayAdminister, type Rights } from '../../shared/access/rights.ts';
import type { AccessControl } from '../access/access-control.ts';
import { forbidden } from './guard-content-api.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Of its sender; where nobody is asked, there are none. */
    rights: Rights;
  }
}

/**
 * Sets the `rights` of every request in this scope before its body is read, and refuses tokens that are not valid (401). What
 * the rights allow is judged where the request is answered.
 */
export function authenticateRequests(scope: FastifyInstance, access: AccessControl): void {
  scope.addHook('onRequest', (request, reply, done) => {
    try {
      request.rights = access.authenticate(request.headers.authorization);
      done();
    } catch (error) {
      // RFC 9110 section 11.6.1 asks for it with every 401.
      reply.header('www-authenticate', 'Bearer');
      done(error as Error);
    }
  });
}

/** Refuses whoever may not manage access, in this scope. */
export function requireAdministrator(scope: FastifyInstance): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    done(mayAdminister(request.rights) ? undefined : forbidden());
  });
}
