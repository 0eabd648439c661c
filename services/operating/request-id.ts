import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Tracing } from './tracing.ts';

/** A caller's `X-Request-Id` is written to logs and answers, so only a plain id is accepted. */
const SANE_ID = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

const processId = randomBytes(6).toString('hex');
let requests = 0;

/** Returns the id that a caller has given its request, if it is plain. */
function givenRequestId({ headers }: IncomingMessage): string | undefined {
  const id = headers['x-request-id'];
  return typeof id === 'string' && SANE_ID.test(id) ? id : undefined;
}

/** Returns the caller's own id, or an id that is unique over all processes of a fleet. */
export function requestIdOf(request: IncomingMessage): string {
  return givenRequestId(request) ?? `${processId}-${(++requests).toString(36)}`;
}

/**
 * Returns `handle` with two additions: it echoes the id that a caller gave its request, and runs in the request's span if there is tracing.
 */
export function observeRequests(handle: RequestListener, tracing: Tracing | undefined): RequestListener {
  return (request, response) => {
    const given = givenRequestId(request);
    if (given !== undefined) response.setHeader('x-request-id', given);
    if (tracing === undefined) handle(request, response);
    else tracing.request(request, response, () => handle(request, response));
  };
}
