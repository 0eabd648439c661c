import type { RequestListener } from 'node:http';

/** Passes requests to a handler. After `close` each new request first waits. */
export type RequestGate = {
  guard(handler: RequestListener): RequestListener;
  /** Makes each new request wait for `wait`. If `wait` resolves with a listener, that listener answers the request. */
  close(wait: () => Promise<RequestListener | undefined>): void;
};

/** Creates an open gate. It cannot be opened again once it is closed. */
export function createRequestGate(): RequestGate {
  let wait: (() => Promise<RequestListener | undefined>) | undefined;
  return {
    guard: (handler) => (request, response) => {
      if (wait === undefined) handler(request, response);
      else
        wait().then(
          (other) => (other ?? handler)(request, response),
          () => handler(request, response),
        );
    },
    close(waited) {
      wait = waited;
    },
  };
}
