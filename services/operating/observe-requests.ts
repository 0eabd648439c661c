import type { RequestListener } from 'node:http';
import { givenRequestId } from './request-id.ts';
import type { Tracing } from './tracing.ts';

/** `handle`, which echoes the id that a caller gave its request, in the request's span where there is tracing. */
export function observeRequests(handle: RequestListener, tracing: Tracing | undefined): RequestListener {
  return (request, response) => {
    const given = givenRequestId(request);
    if (given !== undefined) response.setHeader('x-request-id', given);
    if (tracing === undefined) handle(request, response);
    else tracing.request(request, response, () => handle(request, response));
  };
}
