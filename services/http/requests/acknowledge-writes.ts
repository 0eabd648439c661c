import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import { isWriting } from './writing-methods.ts';

/** Delays the answers to writes of this scope until `acknowledged` has resolved. Adds nothing to reads. */
export function acknowledgeWrites(scope: FastifyInstance, acknowledged: () => Promise<void>): void {
  scope.addHook('onRoute', (route) => {
    if (!isWriting(route)) return;
    const others = route.onSend === undefined ? [] : [route.onSend].flat();
    route.handler = untilSent(route.handler);
    route.onSend = [
      ...others,
      async (request, reply, payload) => {
        // For a forwarded write the leader has waited.
        if (reply.statusCode < 400 && !request.isElsewhere) await acknowledged();
        return payload;
      },
    ];
  });
}

/** Returns `reply` for a handler that returns nothing: then fastify waits until the answer is sent. */
function untilSent(handler: RouteHandlerMethod): RouteHandlerMethod {
  return async function (request, reply) {
    return (await handler.call(this, request, reply)) ?? reply;
  };
}
