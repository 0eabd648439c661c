import { METRICS } from './metric-definitions.ts';
import type { MetricValues } from './metrics.ts';
import { countRequests, quantileMs, type RequestCounts } from './request-counts.ts';

/** Figures of ten seconds. Rates are per second, times in milliseconds. null: there was no such request, or the value is unknown. */
export type ActivitySample = {
  /** End of the ten seconds: milliseconds since 1970. */
  readonly at: number;
  readonly reads: number;
  readonly writes: number;
  /** Requests that were answered with 4xx and with 5xx. */
  readonly refused: number;
  readonly failed: number;
  readonly readP50: number | null;
  readonly readP99: number | null;
  readonly writeP50: number | null;
  readonly writeP99: number | null;
  /** Position of the log, and position up to which reads show it. */
  readonly logPosition: number | null;
  readonly position: number | null;
  readonly lagSeconds: number | null;
  /** Documents in Elasticsearch that searches do not show yet. */
  readonly backlog: number | null;
  readonly memoryBytes: number;
  /** Reads that were answered from memory, and those that needed a query. */
  readonly remembered: number;
  readonly computed: number;
};

/** Figures of the last hour. */
export type Activity = {
  /** Returns the samples after a time in milliseconds since 1970, the oldest first. */
  samples(after: number): readonly ActivitySample[];
  close(): void;
};

export const SAMPLE_SECONDS = 10;
const KEPT = 3_600 / SAMPLE_SECONDS;

const [KNOWN, UNKNOWN] = [METRICS.knownAnswers.name, METRICS.unknownAnswers.name];
const [REQUESTS, LOG, SHOWN, LAG, BACKLOG] = [
  METRICS.httpRequests.name,
  METRICS.logPosition.name,
  METRICS.projectionPosition.name,
  METRICS.lagSeconds.name,
  METRICS.backlog.name,
];
const WATCHED = [REQUESTS, LOG, SHOWN, LAG, BACKLOG, KNOWN, UNKNOWN];

/**
 * Keeps the figures of the last hour in memory, from metrics that exist anyway. `read` returns the values of the named metrics, of one
 * process or of all workers.
 */
export function openActivity(
  read: (names: readonly string[]) => Promise<readonly MetricValues[]>,
  now: () => number = Date.now,
): Activity {
  const kept: ActivitySample[] = [];
  let before: RequestCounts = countRequests([]);
  let answersBefore: Answers = { remembered: 0, computed: 0 };
  let since = now();
  const look = async (): Promise<void> => {
    const found = await read(WATCHED);
    const counts = countRequests(found.filter(({ name }) => name === REQUESTS));
    const at = now();
    const answers = { remembered: totalOf(found, KNOWN), computed: totalOf(found, UNKNOWN) };
    const seconds = Math.max(1, at - since) / 1_000;
    kept.push(sampleOf(found, { before, counts, answersBefore, answers, seconds, at }));
    answersBefore = answers;
    if (kept.length > KEPT) kept.shift();
    before = counts;
    since = at;
  };
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      // The sample is missing: a plot has a gap.
      .catch(() => {})
      .finally(() => {
        isLooking = false;
      });
  }, SAMPLE_SECONDS * 1_000).unref();
  return {
    samples: (after) => kept.filter(({ at }) => at > after),
    close: () => clearInterval(timer),
  };
}

/** Reads since the start of the process. */
type Answers = Pick<ActivitySample, 'remembered' | 'computed'>;

function totalOf(found: readonly MetricValues[], name: string): number {
  const values = found.filter((each) => each.name === name).flatMap((each) => each.values);
  return values.reduce((sum, { value }) => sum + value, 0);
}

type Interval = {
  readonly before: RequestCounts;
  readonly counts: RequestCounts;
  readonly answersBefore: Answers;
  readonly answers: Answers;
  readonly seconds: number;
  readonly at: number;
};

function sampleOf(
  found: readonly MetricValues[],
  { before, counts, answersBefore, answers, seconds, at }: Interval,
): ActivitySample {
  const gauge = (name: string, join: (...values: number[]) => number): number | null => {
    const values = found.filter((each) => each.name === name).flatMap((each) => each.values);
    return values.length === 0 ? null : join(...values.map(({ value }) => value));
  };
  // A worker that crashed takes its counts along.
  const rate = (name: 'refused' | 'failed') => Math.max(0, counts[name] - before[name]) / seconds;
  const reads = counts.reads.map((count, i) => Math.max(0, count - (before.reads[i] ?? 0)));
  const writes = counts.writes.map((count, i) => Math.max(0, count - (before.writes[i] ?? 0)));
  return {
    at,
    reads: (reads.at(-1) ?? 0) / seconds,
    writes: (writes.at(-1) ?? 0) / seconds,
    refused: rate('refused'),
    failed: rate('failed'),
    readP50: quantileMs(reads, 0.5),
    readP99: quantileMs(reads, 0.99),
    writeP50: quantileMs(writes, 0.5),
    writeP99: quantileMs(writes, 0.99),
    logPosition: gauge(LOG, Math.max),
    position: gauge(SHOWN, Math.min),
    lagSeconds: gauge(LAG, Math.max),
    backlog: gauge(BACKLOG, Math.max),
    memoryBytes: process.memoryUsage.rss(),
    remembered: Math.max(0, answers.remembered - answersBefore.remembered) / seconds,
    computed: Math.max(0, answers.computed - answersBefore.computed) / seconds,
  };
}
