import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

export type HeldRequests = {
  /** Holds a request until there is a handler, within limits; other requests get the other answer. */
  readonly take: RequestListener;
  /** Passes held requests to this handler. */
  release(handler: RequestListener): void;
};

export type HoldLimits = {
  readonly requests: number;
  readonly ms: number;
};

export const HOLD_LIMITS: HoldLimits = { requests: 1_000, ms: 30_000 };

/** Holds requests while the process that replaces a crashed one loads its data. */
export function holdRequests(otherwise: RequestListener, limits: HoldLimits): HeldRequests {
  const held = new Map<
    ServerResponse,
    { readonly request: IncomingMessage; readonly timer: NodeJS.Timeout }
  >();
  return {
    take(request, response) {
      if (held.size >= limits.requests) return otherwise(request, response);
      const timer = setTimeout(() => {
        held.delete(response);
        otherwise(request, response);
      }, limits.ms);
      held.set(response, { request, timer });
      response.once('close', () => {
        clearTimeout(timer);
        held.delete(response);
      });
    },
    release(handler) {
      for (const [response, { request, timer }] of held) {
        clearTimeout(timer);
        handler(request, response);
      }
      held.clear();
    },
  };
}
