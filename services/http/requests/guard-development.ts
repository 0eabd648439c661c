import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { RequestError } from '../../../shared/request-error.ts';
import type { AccessControl } from '../../access/access-control.ts';
import { isLoopback } from '../sockets/loopback.ts';

const READING = ['GET', 'HEAD', 'OPTIONS'];

type Guarded = { readonly headers: IncomingHttpHeaders; readonly method?: string | undefined };

/**
 * Creates the check for requests of pages from other sites, in development mode. Without access tokens everyone on this machine may do
 * everything, and so could every page in a browser here. `Host` reveals a page whose name was pointed at 127.0.0.1 (DNS rebinding).
 * `Origin` reveals a page of another site that sends a write. Browsers themselves hide answers from pages of other origins. The check
 * returns the refusal of a request, or undefined.
 */
export function createDevelopmentGuard(access: AccessControl, corsOrigins: readonly string[]) {
  // Most servers see only one name, so the last one is remembered.
  let lastHost: string | undefined;
  return ({ headers, method = '' }: Guarded): RequestError | undefined => {
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

/** Refuses requests of pages from other sites in this scope, with 403. */
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

/** Returns the refusal of a request that is not from this machine. */
export function remoteRefusal(what: string, found: string): RequestError {
  return new RequestError(
    'development-mode',
    `Development mode refuses a request ${what}: create an access token to serve more than this machine`,
    { found, accepted: 'localhost or a loopback address' },
  );
}
