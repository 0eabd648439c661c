import type { FastifyInstance } from 'fastify';
import { RequestError } from '../../shared/request-error.ts';
import type { AccessControl } from '../access/access-control.ts';
import { isLoopback } from './loopback.ts';

const READING = ['GET', 'HEAD', 'OPTIONS'];

/**
 * While there are no access tokens everyone on this machine may do everything, and so might every page its browser shows. A page
 * whose name was made to lead to 127.0.0.1 (DNS rebinding) is told by the name in `Host`, one that posts from elsewhere by its
 * `Origin`. Browsers keep answers from the pages of other origins by themselves. Refuses both in this scope, with 403.
 */
export function guardDevelopment(
  scope: FastifyInstance,
  access: AccessControl,
  corsOrigins: readonly string[],
): void {
  // Hardly ever does a server see a second one.
  let lastHost: string | undefined;
  scope.addHook('onRequest', ({ headers, method }, _reply, done) => {
    if (!access.state().development) return done();
    const { host, origin } = headers;
    if (host !== undefined && host !== lastHost) {
      if (!isLocalHost(host)) return done(stranger(`to ${host}`, host));
      lastHost = host;
    }
    const isWelcome =
      origin === undefined ||
      READING.includes(method) ||
      corsOrigins.includes('*') ||
      corsOrigins.includes(origin) ||
      isLocalUrl(origin);
    done(isWelcome ? undefined : stranger(`from a page of ${origin}`, origin));
  });
}

/** Whether a `Host` header names this machine. */
export function isLocalHost(host: string): boolean {
  return isLocalUrl(`http://${host}`);
}

function isLocalUrl(text: string): boolean {
  const hostname = URL.parse(text)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  // RFC 6761: names below localhost lead nowhere else.
  return isLoopback(hostname) || hostname.endsWith('.localhost');
}

/** The refusal of whoever is not from this machine. */
export function stranger(what: string, found: string): RequestError {
  return new RequestError(
    403,
    'ForbiddenError',
    `Development mode takes no request ${what}: create an access token to serve more than this machine`,
    { found, accepted: 'localhost or a loopback address' },
  );
}
