import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createMetricsOfWorkers } from '../../../services/supervisor/metrics-of-workers.ts';
import type { WorkerProcess } from '../../../services/supervisor/worker-process.ts';
import { createMemoryWorker, type MemoryWorker } from '../../support/memory-worker.ts';

/** Limit of a scrape's wait for a worker. */
const ANSWER_MS = 1_500;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
});

/** Metrics of a worker that has answered so many requests, each of 0.1 s, the last ones with status 500. */
function answered(requests: number, failed = 0, rows = 7): readonly object[] {
  const name = 'duration';
  const series = (status: string, count: number) => [
    { metricName: `${name}_bucket`, labels: { status, le: 0.05 }, value: 0 },
    { metricName: `${name}_bucket`, labels: { le: '+Inf', status }, value: count },
    { metricName: `${name}_sum`, labels: { status }, value: count * 0.1 },
    { metricName: `${name}_count`, labels: { status }, value: count },
  ];
  const byStatus = [...series('200', requests - failed), ...(failed > 0 ? series('500', failed) : [])];
  return [
    { name: 'rows', type: 'gauge', aggregator: 'max', values: [{ labels: {}, value: rows }] },
    { name: 'requests', type: 'counter', aggregator: 'sum', values: [{ labels: {}, value: requests }] },
    { name, type: 'histogram', aggregator: 'sum', values: byStatus },
  ];
}

type Scrape = { readonly gauges: readonly number[]; readonly counts: Readonly<Record<string, number>> };

function serverOf(...workers: WorkerProcess[]) {
  const metrics = createMetricsOfWorkers(() => workers);
  return {
    ...metrics,
    workers,
    /** A scrape in which these workers answer. The others are too slow. */
    async scrape(answers: ReadonlyMap<MemoryWorker, readonly object[]>): Promise<Scrape> {
      const collecting = metrics.collect();
      for (const [worker, answer] of answers) metrics.heard(worker, idOf(worker), answer);
      await vi.advanceTimersByTimeAsync(ANSWER_MS);
      return shownIn(await collecting);
    },
  };
}

/** Number of the last scrape that a worker was asked for. */
function idOf({ heard }: MemoryWorker): number {
  const last = heard.at(-1);
  return last?.kind === 'measure' ? last.id : -1;
}

/** Sums of counts over all lists, with the status of a series, and the gauges. */
function shownIn(lists: readonly (readonly object[])[]): Scrape {
  const gauges: number[] = [];
  const counts: Record<string, number> = {};
  type Values = { metricName?: string; labels: { status?: string; le?: string | number }; value: number }[];
  for (const metric of lists.flat() as { name: string; type: string; values: Values }[])
    for (const { metricName = metric.name, labels, value } of metric.values) {
      const key = [metricName, labels.status, labels.le].filter((part) => part !== undefined).join(' ');
      if (metric.type === 'gauge') gauges.push(value);
      else counts[key] = (counts[key] ?? 0) + value;
    }
  return { gauges, counts };
}

it('adds up the counts of all workers, and returns the gauges of each', async () => {
  const [a, b] = [createMemoryWorker(), createMemoryWorker()];
  const server = serverOf(a, b);
  const scrape = await server.scrape(
    new Map([
      [a, answered(10, 0, 1)],
      [b, answered(5, 2, 3)],
    ]),
  );
  expect(scrape.gauges).toEqual([1, 3]);
  expect(scrape.counts).toEqual({
    requests: 15,
    'duration_bucket 200 0.05': 0,
    'duration_bucket 200 +Inf': 13,
    'duration_sum 200': expect.closeTo(1.3),
    'duration_count 200': 13,
    'duration_bucket 500 0.05': 0,
    'duration_bucket 500 +Inf': 2,
    'duration_sum 500': expect.closeTo(0.2),
    'duration_count 500': 2,
  });
});

it('waits for a slow worker, then counts its last known values and omits its gauges', async () => {
  const [quick, slow] = [createMemoryWorker(), createMemoryWorker()];
  const server = serverOf(quick, slow);
  const first = new Map([
    [quick, answered(10)],
    [slow, answered(100)],
  ]);
  expect((await server.scrape(first)).counts['requests']).toBe(110);

  let found: readonly (readonly object[])[] | undefined;
  const collecting = server.collect().then((all) => {
    found = all;
  });
  server.heard(quick, idOf(quick), answered(12));
  await vi.advanceTimersByTimeAsync(ANSWER_MS - 1);
  expect(found).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  await collecting;
  expect(shownIn(found ?? [])).toMatchObject({ gauges: [7], counts: { requests: 112 } });

  // The late answer of this worker counts in the next scrape.
  const late = idOf(slow);
  server.heard(slow, late, answered(130));
  const none = await server.scrape(new Map());
  expect(none).toMatchObject({ gauges: [], counts: { requests: 142 } });

  // An older answer that arrives after a newer one changes nothing.
  server.heard(slow, late, answered(120));
  expect((await server.scrape(new Map([[slow, answered(131)]]))).counts['requests']).toBe(143);
});

it('keeps the counts of ended workers in one sum, however many there were', async () => {
  const [leading, ...readers] = Array.from({ length: 50 }, createMemoryWorker) as [
    MemoryWorker,
    ...MemoryWorker[],
  ];
  const server = serverOf(leading);
  let before: Scrape['counts'] = {};
  for (const [i, reader] of readers.entries()) {
    server.workers[1] = reader;
    const answers = new Map([
      [leading, answered(3)],
      [reader, answered(10, i === 0 ? 4 : 0)],
    ]);
    const { counts } = await server.scrape(answers);
    for (const [key, value] of Object.entries(before)) expect(counts[key], key).toBeGreaterThanOrEqual(value);
    before = counts;
    reader.ends();
  }
  server.workers.length = 1;
  const collecting = server.collect();
  server.heard(leading, idOf(leading), answered(5));
  const lists = await collecting;
  expect(lists).toHaveLength(2);
  expect(shownIn(lists)).toMatchObject({
    gauges: [7],
    counts: { requests: 5 + 10 * readers.length, 'duration_count 500': 4 },
  });
});

it('omits a worker that has no metrics yet, and quantiles, which do not add up', async () => {
  const [a, starting] = [createMemoryWorker(), createMemoryWorker()];
  const server = serverOf(a, starting);
  const summary = {
    name: 'size',
    type: 'summary',
    values: [
      { labels: { quantile: 0.5 }, value: 3 },
      { metricName: 'size_count', labels: {}, value: 2 },
    ],
  };
  const scrape = await server.scrape(
    new Map<MemoryWorker, readonly object[]>([
      [a, [summary]],
      [starting, []],
    ]),
  );
  expect(scrape).toEqual({ gauges: [], counts: { size_count: 2 } });
});
