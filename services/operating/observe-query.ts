import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import type { DurationHistogram } from './duration-histogram.ts';
import { timeReadIndex } from './observe-read-index.ts';
import { inSpan, type Tracing } from './tracing.ts';

/** Read that is planned, then answered. */
export type ObservedQuery<Plan, Answer> = {
  /** Uid of the content type. */
  readonly type: string;
  readonly queryString: string;
  readonly requestId: string | undefined;
  readonly index: ReadIndex;
  readonly plan: () => Plan;
  /** Answers the plan from the given index. */
  readonly answer: (plan: Plan, index: ReadIndex) => Promise<Answer>;
};

/** Runs a read, and may measure it. */
export type ObserveQuery = <Plan, Answer>(query: ObservedQuery<Plan, Answer>) => Promise<Answer>;

/** Milliseconds of the stages of a query. Their sum is its whole time. */
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
  /** Called for queries that took longer than `slowMs`. 0: for none. */
  readonly slowMs: number;
  readonly slow: (report: QueryReport) => void;
};

/** Runs a query without measuring. */
export const runQuery: ObserveQuery = async ({ index, plan, answer }) => answer(plan(), index);

/** Creates the observation of a query's stages: planning, the read index, and rendering, which is the remaining time. */
export function createObserveQuery(options: ObserveQueryOptions): ObserveQuery {
  const { phases, tracing, slowMs } = options;
  if (phases === undefined && tracing === undefined && slowMs === 0) return runQuery;
  const record = phases === undefined ? () => {} : recordPhases(phases);
  return async ({ index, type, queryString, requestId, plan, answer }) => {
    const started = performance.now();
    const planned = tracing === undefined ? plan() : inSpan(tracing, 'plan', { 'varve.type': type }, plan);
    const plannedAt = performance.now();
    const times = { plan: plannedAt - started, search: 0, populate: 0, render: 0 };
    const result = await answer(planned, timeReadIndex(index, times));
    const ms = performance.now() - started;
    times.render = Math.max(0, ms - times.plan - times.search - times.populate);
    record(times);
    if (slowMs > 0 && ms > slowMs) options.slow({ requestId, type, queryString, times });
    return result;
  };
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
