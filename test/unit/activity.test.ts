import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openActivity } from '../../services/operating/activity.ts';
import { METRICS } from '../../services/operating/metric-definitions.ts';
import { createMetrics } from '../../services/operating/metrics.ts';
import { quantileMs } from '../../services/operating/request-counts.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('has a sample for each ten seconds, with rates and quantiles of these seconds only', async () => {
  const metrics = createMetrics();
  const durations = metrics.durations(METRICS.httpRequests);
  let position = 7;
  metrics.gauge(METRICS.logPosition, () => position);
  const activity = openActivity(metrics.values);
  const [read, write, failed, other] = [
    durations.series('GET', '/api/tags', '200'),
    durations.series('PUT', '/api/tags/:id', '200'),
    durations.series('GET', '/api/tags', '503'),
    durations.series('GET', '/docs', '404'),
  ];
  for (let i = 0; i < 100; i++) read.observe(i < 98 ? 0.2 : 200);
  write.observe(3);
  other.observe(1);
  await vi.advanceTimersByTimeAsync(10_000);
  position = 9;
  failed.observe(0.3);
  await vi.advanceTimersByTimeAsync(10_000);
  const [first, second, ...more] = activity.samples(0);
  expect(more).toEqual([]);
  expect(first).toMatchObject({
    reads: 10,
    writes: 0.1,
    refused: 0.1,
    failed: 0,
    logPosition: 7,
    lagSeconds: null,
  });
  expect(first?.readP50).toBeGreaterThan(0.1);
  expect(first?.readP50).toBeLessThan(0.25);
  expect(first?.readP99).toBeGreaterThan(100);
  expect(first?.writeP50).toBeCloseTo(3.75);
  expect(second).toMatchObject({ reads: 0.1, writes: 0, failed: 0.1, writeP50: null, logPosition: 9 });
  expect(activity.samples(first?.at ?? 0)).toEqual([second]);
  activity.close();
});

it('keeps an hour, and leaves a gap where the metrics cannot be read', async () => {
  let isBroken = false;
  const activity = openActivity(async () => {
    if (isBroken) throw new Error('a worker does not answer');
    return [];
  });
  await vi.advanceTimersByTimeAsync(2 * 3_600_000);
  expect(activity.samples(0)).toHaveLength(360);
  isBroken = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(activity.samples(Date.now() - 60_000)).toEqual([]);
  activity.close();
});

it('estimates a quantile within its bucket', () => {
  const empty = Array.from({ length: 18 }, () => 0);
  expect(quantileMs(empty, 0.5)).toBeNull();
  const longer = empty.with(17, 3);
  expect(quantileMs(longer, 0.99), 'no bound is greater').toBe(10_000);
});
