import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

export type WaitingRequests = {
  /** Queues a request until there is a handler. Above a limit `otherwise` answers it. */
  readonly take: RequestListener;
  /** Passes all waiting requests to this handler. */
  release(handler: RequestListener): void;
};

export type WaitLimits = {
  readonly requests: number;
  readonly ms: number;
};

export const WAIT_LIMITS: WaitLimits = { requests: 1_000, ms: 30_000 };

/** Queues requests while a process that replaces a crashed one loads its data. Above a limit `otherwise` answers. */
export function queueRequests(otherwise: RequestListener, limits: WaitLimits): WaitingRequests {
  const waiting = new Map<
    ServerResponse,
    { readonly request: IncomingMessage; readonly timer: NodeJS.Timeout }
  >();
  return {
    take(request, response) {
      if (waiting.size >= limits.requests) return otherwise(request, response);
      const timer = setTimeout(() => {
        waiting.delete(response);
        otherwise(request, response);
      }, limits.ms);
      waiting.set(response, { request, timer });
      response.once('close', () => {
        clearTimeout(timer);
        waiting.delete(response);
      });
    },
    release(handler) {
      for (const [response, { request, timer }] of waiting) {
        clearTimeout(timer);
        handler(request, response);
      }
      waiting.clear();
    },
  };
}
