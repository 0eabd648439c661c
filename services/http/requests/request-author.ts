import type { FastifyInstance, FastifyRequest } from 'fastify';
import { defined } from '../../../shared/defined.ts';
import type { AccessControl } from '../../access/access-control.ts';
import type { Author } from '../../command/command.ts';
import { actAs } from '../../command/current-author.ts';
import type { Tracing } from '../../operating/tracing.ts';

import { isWriting } from './writing-methods.ts';

/**
 * Makes the caller the author of every write of this scope. A forwarded write has the caller's own credentials, so the process that carries
 * it out names the same author.
 */
export function nameAuthors(
  scope: FastifyInstance,
  access: Pick<AccessControl, 'actorOf'>,
  tracing: Tracing | undefined,
): void {
  scope.addHook('onRoute', (route) => {
    const { handler } = route;
    if (!isWriting(route)) return;
    route.handler = function (request, reply) {
      return actAs(authorOf(request, access, tracing), () => handler.call(this, request, reply));
    };
  });
}

function authorOf(
  { headers, id, signedIn }: FastifyRequest,
  access: Pick<AccessControl, 'actorOf'>,
  tracing: Tracing | undefined,
): Author {
  const traceId = tracing?.traceId() ?? traceIdOf(headers['traceparent']);
  return {
    actor: signedIn?.actor ?? access.actorOf(headers.authorization),
    correlationId: id,
    ...defined({ traceId }),
  };
}

const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/;

/** Returns the trace id of a `traceparent` header (W3C Trace Context); undefined if the header is not valid. */
function traceIdOf(traceparent: unknown): string | undefined {
  return typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined;
}
