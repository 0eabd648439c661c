import type { RequestListener } from 'node:http';
import { createScope, givenRequestId, newRequestId, runInRequest } from './request-scope.ts';
import type { Tracing } from './tracing.ts';

/** `handle`, with an id for every request: the caller's own, which is echoed, or a new one. */
export function observeRequests(handle: RequestListener, tracing: Tracing | undefined): RequestListener {
  return (request, response) => {
    const given = givenRequestId(request.headers['x-request-id']);
    if (given !== undefined) response.setHeader('x-request-id', given);
    const scope = createScope(given ?? newRequestId());
    runInRequest(scope, () => {
      if (tracing === undefined) handle(request, response);
      else tracing.request(request, response, scope.id, () => handle(request, response));
    });
  };
}
