import type { FastifyInstance, FastifyRequest } from 'fastify';
import { mayAdminister, type Rights } from '../../shared/access/rights.ts';
import type { AccessControl } from '../access/access-control.ts';
import { forbidden } from './guard-content-api.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Rights of the sender; none if the process does not authenticate. */
    rights: Rights;
  }
}

/**
 * Sets the `rights` of every request in this scope before its body is read, and refuses invalid tokens (401). The
 * handler of a request checks the rights. An unknown token is checked again after `catchUp`, which is undefined for
 * requests that do not wait.
 */
export function authenticateRequests(
  scope: FastifyInstance,
  access: AccessControl,
  catchUp: (request: FastifyRequest) => Promise<unknown> | undefined,
): void {
  const authenticate = (request: FastifyRequest) => {
    request.rights = access.authenticate(request.headers.authorization);
  };
  scope.addHook('onRequest', (request, reply, done) => {
    const refuse = (error: Error) => {
      // RFC 9110 section 11.6.1 asks for it with every 401.
      reply.header('www-authenticate', 'Bearer');
      done(error);
    };
    try {
      authenticate(request);
      done();
    } catch (error) {
      const caughtUp = catchUp(request);
      if (caughtUp === undefined) refuse(error as Error);
      else
        caughtUp
          .then(() => {
            authenticate(request);
            done();
          })
          .catch(refuse);
    }
  });
}

/** Refuses callers that may not manage access, in this scope. */
export function requireAdministrator(scope: FastifyInstance): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    done(mayAdminister(request.rights) ? undefined : forbidden());
  });
}
