import type { IncomingMessage, ServerResponse } from 'node:http';

export type SpanAttributes = Readonly<Record<string, string | number>>;

/** Destination of spans. Absent unless traces are configured. */
export type Tracing = {
  /** Runs `work` in a span below the current one, until its result has settled. */
  span<Result>(name: string, attributes: SpanAttributes, work: () => Result): Result;
  /**
   * Runs `handle` in the span of a request, below the caller's own span (`traceparent`). The span ends when the answer is sent or the
   * connection is closed.
   */
  request(request: IncomingMessage, response: ServerResponse, handle: () => void): void;
  /** Records the route of a request, and its id in logs. */
  routed(request: IncomingMessage, route: string, requestId: string): void;
  /** Returns the id of the current span's trace; undefined if there is no span. */
  traceId(): string | undefined;
  /** Sends pending spans. */
  close(): Promise<void>;
};

/** Runs `work`, in a span if there is tracing. */
export function inSpan<Result>(
  tracing: Tracing | undefined,
  name: string,
  attributes: SpanAttributes,
  work: () => Result,
): Result {
  return tracing === undefined ? work() : tracing.span(name, attributes, work);
}
