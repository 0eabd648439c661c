import type { IncomingMessage, ServerResponse } from 'node:http';

export type SpanAttributes = Readonly<Record<string, string | number>>;

/** Where spans go when traces are configured; where they are not, there is none of these at all. */
export type Tracing = {
  /** Runs `work` in a span below the current one, until what it returns has settled. */
  span<Result>(name: string, attributes: SpanAttributes, work: () => Result): Result;
  /** Runs `handle` in the span of a request, below the caller's own (`traceparent`), until the connection is done with it. */
  request(request: IncomingMessage, response: ServerResponse, handle: () => void): void;
  /** The route that a request has taken, and what it is called in logs. */
  routed(request: IncomingMessage, route: string, requestId: string): void;
  /** The trace that the current span belongs to; undefined: there is none. */
  traceId(): string | undefined;
  /** Sends what is not sent yet. */
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
