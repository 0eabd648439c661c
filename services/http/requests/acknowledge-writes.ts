import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import { isWriting } from './writing-methods.ts';

/** Sends the answers to writes of this scope only once `acknowledged` has resolved. Reads pass nothing additional. */
export function acknowledgeWrites(scope: FastifyInstance, acknowledged: () => Promise<void>): void {
  scope.addHook('onRoute', (route) => {
    if (!isWriting(route)) return;
    const others = route.onSend === undefined ? [] : [route.onSend].flat();
    route.handler = untilSent(route.handler);
    route.onSend = [
      ...others,
      async (request, reply, payload) => {
        // The leader has waited for a write that was sent on.
        if (reply.statusCode < 400 && !request.isElsewhere) await acknowledged();
        return payload;
      },
    ];
  });
}

/** An answer with something to wait for is not sent yet when `send` has returned. */
function untilSent(handler: RouteHandlerMethod): RouteHandlerMethod {
  return async function (request, reply) {
    return (await handler.call(this, request, reply)) ?? reply;
  };
}
