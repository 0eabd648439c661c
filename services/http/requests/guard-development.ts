import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import type { AccessControl } from '../../access/access-control.ts';
import { isLoopback } from '../sockets/loopback.ts';

const READING = ['GET', 'HEAD', 'OPTIONS'];

/** Returns the refusal of a request; undefined: it may pass. */
export type DevelopmentGuard = (request: {
  readonly headers: IncomingHttpHeaders;
  readonly method?: string | undefined;
}) => RequestError | undefined;

/**
 * Creates the check for requests of strangers' pages. Without access tokens everyone on this machine may do everything, and so could every
 * page in its browser. The name in `Host` reveals a page whose name was pointed at 127.0.0.1 (DNS rebinding); `Origin` reveals one that
 * posts from elsewhere. Browsers hide answers from the pages of other origins by themselves.
 */
export function createDevelopmentGuard(
  access: AccessControl,
  corsOrigins: readonly string[],
): DevelopmentGuard {
  // Hardly ever does a server see a second one.
  let lastHost: string | undefined;
  return ({ headers, method = '' }) => {
    if (!access.state().development) return undefined;
    const { host, origin } = headers;
    if (host !== undefined && host !== lastHost) {
      if (!isLocalHost(host)) return remoteRefusal(`to ${host}`, host);
      lastHost = host;
    }
    const isWelcome =
      origin === undefined ||
      READING.includes(method) ||
      corsOrigins.includes('*') ||
      corsOrigins.includes(origin) ||
      isLocalUrl(origin);
    return isWelcome ? undefined : remoteRefusal(`from a page of ${origin}`, origin);
  };
}

/** Refuses requests of strangers' pages in this scope, with 403. */
export function guardDevelopment(
  scope: FastifyInstance,
  access: AccessControl,
  corsOrigins: readonly string[],
): void {
  const refusalOf = createDevelopmentGuard(access, corsOrigins);
  scope.addHook('onRequest', (request, _reply, done) => done(refusalOf(request)));
}

/** Returns whether a `Host` header names this machine. */
export function isLocalHost(host: string): boolean {
  return isLocalUrl(`http://${host}`);
}

/** Returns whether an address, such as a page's origin, names this machine. */
export function isLocalUrl(text: string): boolean {
  const hostname = URL.parse(text)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  // RFC 6761: names below localhost always mean this machine.
  return isLoopback(hostname) || hostname.endsWith('.localhost');
}

/** Refusal of a request that is not from this machine. */
export function remoteRefusal(what: string, found: string): RequestError {
  return new RequestError(
    'development-mode',
    `Development mode refuses a request ${what}: create an access token to serve more than this machine`,
    { found, accepted: 'localhost or a loopback address' },
  );
}
