import type { QueryReport } from './observe-query.ts';

/** A query that took longer than the threshold. Times are milliseconds of its stages; their sum is its whole time. */
export type SlowQuery = {
  /** Time of its end, ISO 8601. */
  readonly at: string;
  readonly requestId: string | null;
  /** Uid of the content type. */
  readonly type: string;
  /** The first 2,000 characters of the query string. */
  readonly query: string;
  readonly planMs: number;
  readonly searchMs: number;
  readonly populateMs: number;
  readonly renderMs: number;
};

/** The newest slow queries of a process. */
export type SlowQueries = {
  add(report: QueryReport): SlowQuery;
  /** Returns at most 100, the newest first. */
  newest(): readonly SlowQuery[];
};

const MOST_KEPT = 100;

/** Characters of a query. No person writes a longer query. */
const SHOWN_QUERY = 2_000;

/** Keeps the newest slow queries in memory. */
export function createSlowQueries(now: () => number = Date.now): SlowQueries {
  const kept: SlowQuery[] = [];
  return {
    add({ requestId = null, type, queryString, times }) {
      const slow: SlowQuery = {
        at: new Date(now()).toISOString(),
        requestId,
        type,
        query: queryString.slice(0, SHOWN_QUERY),
        planMs: tenths(times.plan),
        searchMs: tenths(times.search),
        populateMs: tenths(times.populate),
        renderMs: tenths(times.render),
      };
      kept.unshift(slow);
      if (kept.length > MOST_KEPT) kept.pop();
      return slow;
    },
    newest: () => [...kept],
  };
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

const NAME = 'slow-queries';

/**
 * Returns slow queries in the form in which workers send their metrics. The aggregator omits them from `/metrics`, where a query string would
 * be a label with too many values.
 */
export function asMeasurement(queries: readonly SlowQuery[]): object {
  return { name: NAME, help: NAME, type: 'gauge', values: [], aggregator: 'omit', queries };
}

/** Returns the newest slow queries among the measurements of several workers, the newest first. */
export function slowQueriesIn(measurements: readonly object[]): readonly SlowQuery[] {
  return measurements
    .flatMap((each) => ('queries' in each ? (each.queries as readonly SlowQuery[]) : []))
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .slice(0, MOST_KEPT);
}
