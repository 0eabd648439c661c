import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DurationHistogram, DurationSeries } from '../../operating/duration-histogram.ts';
import type { Tracing } from '../../operating/tracing.ts';

export type RequestMeters = {
  readonly durations: DurationHistogram | undefined;
  readonly tracing: Tracing | undefined;
};

type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

/** Label of requests for unknown paths: clients choose their URLs freely. */
const NO_ROUTE = '(none)';

/**
 * Times every request of the routes that are registered after this. By route, not by URL: the content types bound the
 * number of series. Returns a function that measures an answer to a request without a route.
 */
export function measureRequests(
  app: FastifyInstance,
  { durations, tracing }: RequestMeters,
): (reply: FastifyReply) => void {
  app.addHook('onRoute', (route) => {
    if (durations !== undefined) {
      const measure = measureRoute(durations, route.url);
      route.onResponse = [...[route.onResponse ?? []].flat(), measure];
    }
    if (tracing !== undefined) {
      const name: Hook = (request, _reply, done) => {
        tracing.routed(request.raw, route.url, request.id);
        done();
      };
      route.onRequest = [...[route.onRequest ?? []].flat(), name];
    }
  });
  if (durations === undefined) return () => {};
  const measure = measureRoute(durations, NO_ROUTE);
  return (reply) => {
    reply.raw.once('finish', () => measure(reply.request, reply, () => {}));
  };
}

function measureRoute(durations: DurationHistogram, url: string): Hook {
  const byMethod = new Map<string, Map<number, DurationSeries>>();
  const seriesOf = (method: string, status: number): DurationSeries => {
    const byStatus = byMethod.get(method) ?? new Map<number, DurationSeries>();
    const series = byStatus.get(status) ?? durations.series(method, url, String(status));
    byMethod.set(method, byStatus.set(status, series));
    return series;
  };
  return (request, reply, done) => {
    const { method } = request;
    const status = reply.raw.statusCode;
    const series = byMethod.get(method)?.get(status) ?? seriesOf(method, status);
    series.observe(reply.elapsedTime);
    done();
  };
}
