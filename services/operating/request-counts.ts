import { BOUNDS_MS } from './duration-histogram.ts';
import type { MetricValues } from './metrics.ts';

/** Counts of requests since a start. `reads` and `writes` count those of the content API up to each bound, as buckets of a histogram do. */
export type RequestCounts = {
  readonly reads: readonly number[];
  readonly writes: readonly number[];
  readonly refused: number;
  readonly failed: number;
};

const BOUNDS: readonly (number | string)[] = [...BOUNDS_MS.map((ms) => ms / 1_000), '+Inf'];
const BUCKET = new Map(BOUNDS.map((bound, i) => [String(bound), i]));
/** Streams of changes last until their clients leave. */
const STREAMS = '/api/_changes';

/** Adds the series of the histogram of requests. */
export function countRequests(histograms: readonly MetricValues[]): RequestCounts {
  const reads = BOUNDS.map(() => 0);
  const writes = BOUNDS.map(() => 0);
  let [refused, failed] = [0, 0];
  for (const { metricName = '', labels, value } of histograms.flatMap(({ values }) => values)) {
    const { method, route, status, le } = labels;
    if (metricName.endsWith('_count')) {
      if (Number(status) >= 500) failed += value;
      else if (Number(status) >= 400) refused += value;
    }
    const bucket = metricName.endsWith('_bucket') ? BUCKET.get(String(le)) : undefined;
    if (bucket === undefined || !String(route).startsWith('/api/') || route === STREAMS) continue;
    const counts = method === 'GET' || method === 'HEAD' ? reads : writes;
    counts[bucket] = (counts[bucket] ?? 0) + value;
  }
  return { reads, writes, refused, failed };
}

/** Returns a quantile of the durations in cumulative buckets, in milliseconds: between two bounds by a straight line. null: there are none. */
export function quantileMs(cumulative: readonly number[], quantile: number): number | null {
  const total = cumulative.at(-1) ?? 0;
  if (total === 0) return null;
  const wanted = total * quantile;
  const bucket = cumulative.findIndex((count) => count >= wanted);
  const upper = BOUNDS_MS[bucket];
  // Longer durations than the greatest bound are not known.
  if (upper === undefined) return BOUNDS_MS.at(-1) ?? null;
  const lower = BOUNDS_MS[bucket - 1] ?? 0;
  const below = cumulative[bucket - 1] ?? 0;
  const within = (cumulative[bucket] ?? 0) - below;
  return within === 0 ? upper : lower + ((upper - lower) * (wanted - below)) / within;
}
