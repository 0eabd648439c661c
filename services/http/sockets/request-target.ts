import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError } from '../../../shared/request-error.ts';
import { refuseRequest } from './refuse-request.ts';

/**
 * Returns whether a request target is in origin form (RFC 9112 section 3.2.1), with a path that every parser reads alike. The absolute form
 * is refused, because it may name another host. A backslash in the path is refused, because some parsers read it as a slash.
 */
function isOriginForm(target: string): boolean {
  if (!target.startsWith('/')) return false;
  const backslash = target.indexOf('\\');
  if (backslash === -1) return true;
  const query = target.indexOf('?');
  return query !== -1 && query < backslash;
}

/** Refuses a request with another target (400). Returns true if it has refused. */
export function refuseTarget({ url = '' }: IncomingMessage, response: ServerResponse): boolean {
  if (isOriginForm(url)) return false;
  const error = new RequestError('malformed-request', 'The request target must be a path such as /api', {
    found: url,
    accepted: 'a path that begins with / and has no backslash, and a query string',
  });
  refuseRequest(response, error);
  return true;
}
