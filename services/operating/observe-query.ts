import type { DurationHistogram } from './duration-histogram.ts';
import { currentRequest, type RequestScope } from './request-scope.ts';
import { inSpan, type Tracing } from './tracing.ts';

/** A read: planned, then answered. */
export type ObservedQuery<Plan, Answer> = {
  /** Uid of the content type. */
  readonly type: string;
  readonly queryString: string;
  readonly plan: () => Plan;
  readonly answer: (plan: Plan) => Promise<Answer>;
};

/** Runs a read; measures it or not. */
export type ObserveQuery = <Plan, Answer>(query: ObservedQuery<Plan, Answer>) => Promise<Answer>;

/** Milliseconds. Together they are the whole of it. */
export type QueryTimes = {
  readonly plan: number;
  readonly search: number;
  readonly populate: number;
  readonly render: number;
};

export type QueryReport = {
  readonly requestId: string | undefined;
  readonly type: string;
  readonly queryString: string;
  readonly times: QueryTimes;
};

export type ObserveQueryOptions = {
  readonly phases: DurationHistogram | undefined;
  readonly tracing: Tracing | undefined;
  /** Told of queries that took longer than `slowMs`; 0 = of none. */
  readonly slowMs: number;
  readonly slow: (report: QueryReport) => void;
};

/** As it is, for whoever measures nothing. */
export const runQuery: ObserveQuery = async ({ plan, answer }) => answer(plan());

/** What the read index took of an answer comes from `observeReadIndex`; the rest of it is rendering. */
export function createObserveQuery(options: ObserveQueryOptions): ObserveQuery {
  const { phases, tracing, slowMs } = options;
  if (phases === undefined && tracing === undefined && slowMs === 0) return runQuery;
  const record = phases === undefined ? () => {} : recordPhases(phases);
  return async ({ type, queryString, plan, answer }) => {
    const scope = currentRequest();
    const before = indexTimes(scope);
    const started = performance.now();
    const planned = inSpan(tracing, 'plan', { 'varve.type': type }, plan);
    const plannedAt = performance.now();
    const result = await answer(planned);
    const now = performance.now();
    const after = indexTimes(scope);
    const search = after.search - before.search;
    const populate = after.populate - before.populate;
    const render = Math.max(0, now - plannedAt - search - populate);
    const times = { plan: plannedAt - started, search, populate, render };
    record(times);
    if (slowMs > 0 && now - started > slowMs)
      options.slow({ requestId: scope?.id, type, queryString, times });
    return result;
  };
}

function indexTimes(scope: RequestScope | undefined) {
  return { search: scope?.searchMs ?? 0, populate: scope?.populateMs ?? 0 };
}

function recordPhases(phases: DurationHistogram): (times: QueryTimes) => void {
  const [plan, search, populate, render] = ['plan', 'search', 'populate', 'render'].map((phase) =>
    phases.series(phase),
  );
  return (times) => {
    plan?.observe(times.plan);
    search?.observe(times.search);
    if (times.populate > 0) populate?.observe(times.populate);
    render?.observe(times.render);
  };
}
