import type { FastifyInstance, FastifyRequest } from 'fastify';
import { mayAdminister, maySeeSettings, type Rights } from '../../../shared/access/rights.ts';
import { type AccessControl, bearerToken } from '../../access/access-control.ts';
import type { LoginApi } from '../../login/login-api.ts';
import { hasJwtForm, type SignedIn } from '../../login/signed-in.ts';
import { forbidden } from '../api/guard-content-api.ts';
import { awaitAll, awaitTokens, type Freshness } from '../requests/await-position.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Rights of the sender; none if the process does not authenticate. */
    rights: Rights;
    /** Sender of the request, if that is a person with a JWT. */
    signedIn: SignedIn | undefined;
  }
}

export type Authentication = {
  readonly access: AccessControl;
  /** Absent: nobody signs in. */
  readonly login: LoginApi | undefined;
  readonly freshness: Freshness;
};

/** Sets the sender of a request: at once, or when the promise resolves if a JWT has to be checked. Throws RequestError (401). */
export type Authenticate = (request: FastifyRequest) => Promise<void> | undefined;

/** Creates the check of a sender. A text in the form of a JWT is checked as a JWT only if it is not an access token. */
export function createAuthenticate({ access, login, freshness }: Authentication): Authenticate {
  const checkJwt = async (request: FastifyRequest, api: LoginApi, jwt: string) => {
    let decision = await api.check(jwt);
    if (decision.kind === 'refused' && decision.mayBecomeValid) {
      // Another process may have signed the person in a moment ago.
      await awaitAll(freshness);
      decision = await api.check(jwt);
    }
    if (decision.kind === 'refused') throw decision.error;
    request.signedIn = decision.who;
    request.rights = decision.who.rights;
  };
  return (request) => {
    const { authorization } = request.headers;
    const bearer = login === undefined ? undefined : bearerToken(authorization);
    if (login !== undefined && hasJwtForm(bearer) && !access.isToken(authorization))
      return checkJwt(request, login, bearer);
    request.rights = access.authenticate(authorization);
    return undefined;
  };
}

/**
 * Sets the `rights` of every request in this scope before its body is read, and refuses invalid tokens (401). The handler of a request
 * checks the rights. An unknown token is checked again once this process has read the log.
 */
export function authenticateRequests(
  scope: FastifyInstance,
  authenticate: Authenticate,
  { access, freshness }: Authentication,
): void {
  scope.addHook('onRequest', (request, reply, done) => {
    const refuse = (error: Error) => {
      // RFC 9110 section 11.6.1 requires this header with every 401.
      reply.header('www-authenticate', 'Bearer');
      done(error);
    };
    try {
      const checked = authenticate(request);
      if (checked === undefined) done();
      else checked.then(() => done(), refuse);
    } catch (error) {
      const caughtUp = awaitTokens(freshness, access, request);
      if (caughtUp === undefined) refuse(error as Error);
      else
        caughtUp
          .then(() => authenticate(request))
          .then(() => done())
          .catch(refuse);
    }
  });
}

/**
 * Answers like an unknown path in this scope, unless the caller may see the settings of the server. The body is parsed before, as that of
 * a request to an unknown path.
 */
export function hideSettings(scope: FastifyInstance): void {
  scope.addHook('preHandler', async (request, reply) => {
    if (!maySeeSettings(request.rights)) return reply.callNotFound();
  });
}

/** Refuses callers without full access in this scope. */
export function requireAdministrator(scope: FastifyInstance): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    done(mayAdminister(request.rights) ? undefined : forbidden());
  });
}
