import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { valueAt } from '../../../shared/map-values.ts';
import type { DurationHistogram, DurationSeries } from '../../operating/duration-histogram.ts';
import type { Tracing } from '../../operating/tracing.ts';

export type RequestMeters = {
  readonly durations: DurationHistogram | undefined;
  readonly tracing: Tracing | undefined;
};

type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

/** Label of all requests for unknown paths. Their URLs would make any number of series. */
const NO_ROUTE = '(none)';

/** Measures answers that do not pass a route. */
export type OtherMeasures = {
  /** Measures an answer to a request without a route. */
  unrouted(reply: FastifyReply): void;
  /** Measures a remembered answer of a route to a GET that did not reach the route. */
  remembered(route: string, status: number, ms: number): void;
};

/** Times every request of routes that are registered later. Each route has a series, not each URL, so content types bound their number. */
export function measureRequests(app: FastifyInstance, { durations, tracing }: RequestMeters): OtherMeasures {
  app.addHook('onRoute', (route) => {
    if (durations !== undefined) {
      const measure = measureRoute(seriesByRoute(durations, route.url));
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
  if (durations === undefined) return { unrouted() {}, remembered() {} };
  const measure = measureRoute(seriesByRoute(durations, NO_ROUTE));
  const reads = new Map<string, SeriesOf>();
  return {
    unrouted(reply) {
      reply.raw.once('finish', () => measure(reply.request, reply, () => {}));
    },
    remembered(route, status, ms) {
      valueAt(reads, route, () => seriesByRoute(durations, route))('GET', status).observe(ms);
    },
  };
}

type SeriesOf = (method: string, status: number) => DurationSeries;

function seriesByRoute(durations: DurationHistogram, url: string): SeriesOf {
  const byMethod = new Map<string, Map<number, DurationSeries>>();
  const first = (method: string, status: number): DurationSeries => {
    const byStatus = valueAt(byMethod, method, () => new Map<number, DurationSeries>());
    return valueAt(byStatus, status, () => durations.series(method, url, String(status)));
  };
  return (method, status) => byMethod.get(method)?.get(status) ?? first(method, status);
}

function measureRoute(seriesOf: SeriesOf): Hook {
  return (request, reply, done) => {
    seriesOf(request.method, reply.raw.statusCode).observe(reply.elapsedTime);
    done();
  };
}
