import type { IncomingMessage, ServerResponse } from 'node:http';

export type SpanAttributes = Readonly<Record<string, string | number>>;

/** Destination of spans if traces are configured; otherwise there is none. */
export type Tracing = {
  /** Runs `work` in a span below the current one, until its result has settled. */
  span<Result>(name: string, attributes: SpanAttributes, work: () => Result): Result;
  /** Runs `handle` in the span of a request, below the caller's own (`traceparent`), until the connection is done with it. */
  request(request: IncomingMessage, response: ServerResponse, handle: () => void): void;
  /** Records the route of a request, and its id in logs. */
  routed(request: IncomingMessage, route: string, requestId: string): void;
  /** Trace of the current span; undefined: there is none. */
  traceId(): string | undefined;
  /** Sends pending spans. */
  close(): Promise<void>;
};

/** Runs `work`, in a span where there is tracing. */
export function inSpan<Result>(
  tracing: Tracing | undefined,
  name: string,
  attributes: SpanAttributes,
  work: () => Result,
): Result {
  return tracing === undefined ? work() : tracing.span(name, attributes, work);
}
