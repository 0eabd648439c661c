import { describe, expect, it } from 'vitest';
import { METRICS } from '../../services/operating/metric-definitions.ts';
import { createMetrics } from '../../services/operating/metrics.ts';

const HISTOGRAM = {
  name: 'varve_test_seconds',
  kind: 'histogram',
  help: 'Test',
  labels: ['a', 'b'],
} as const;
const GAUGE = { name: 'varve_test', kind: 'gauge', help: 'Test', labels: ['a'] } as const;
const COUNTER = { name: 'varve_test_total', kind: 'counter', help: 'Test', labels: [] } as const;

function linesOf(text: string, name: string): readonly string[] {
  return text.split('\n').filter((line) => line.startsWith(name));
}

describe('durations', () => {
  it('counts each duration in every bucket whose bound it does not exceed', async () => {
    const metrics = createMetrics();
    const series = metrics.durations(HISTOGRAM).series('x', 'y');
    for (const ms of [0, 0.05, 0.06, 1, 10_000, 10_001]) series.observe(ms);
    const text = await metrics.text();
    const buckets = linesOf(text, 'varve_test_seconds_bucket').map((line) => {
      const [, le, count] = /le="([^"]+)"} (\d+)$/.exec(line) ?? [];
      return [le, Number(count)];
    });
    expect(Object.fromEntries(buckets)).toMatchObject({
      '0.00005': 2,
      '0.0001': 3,
      '0.001': 4,
      '5': 4,
      '10': 5,
      '+Inf': 6,
    });
    expect(text).toContain('# TYPE varve_test_seconds histogram');
    expect(linesOf(text, 'varve_test_seconds_count')).toEqual(['varve_test_seconds_count{a="x",b="y"} 6']);
    const [sum = ''] = linesOf(text, 'varve_test_seconds_sum');
    expect(Number(sum.split(' ')[1])).toBeCloseTo(20.00211, 6);
  });

  it('keeps one series for one set of label values', async () => {
    const metrics = createMetrics();
    const durations = metrics.durations(HISTOGRAM);
    durations.series('x', 'y').observe(1);
    durations.series('x', 'y').observe(1);
    durations.series('x', 'z').observe(1);
    expect(linesOf(await metrics.text(), 'varve_test_seconds_count')).toEqual([
      'varve_test_seconds_count{a="x",b="y"} 2',
      'varve_test_seconds_count{a="x",b="z"} 1',
    ]);
  });

  it('escapes characters in label values', async () => {
    const metrics = createMetrics();
    metrics.durations(HISTOGRAM).series('"\n\\', '').observe(1);
    expect(await metrics.text()).toContain('varve_test_seconds_count{a="\\"\\n\\\\",b=""} 1');
  });
});

describe('gauges and counters', () => {
  it('reads a gauge at every scrape and shows only its current values', async () => {
    const metrics = createMetrics();
    let samples = [{ labels: { a: '1' }, value: 5 }];
    metrics.samples(GAUGE, () => samples);
    expect(linesOf(await metrics.text(), 'varve_test{')).toEqual(['varve_test{a="1"} 5']);
    samples = [{ labels: { a: '2' }, value: 6 }];
    expect(linesOf(await metrics.text(), 'varve_test{')).toEqual(['varve_test{a="2"} 6']);
  });

  it('omits a gauge without a value', async () => {
    const metrics = createMetrics();
    let value: number | undefined;
    metrics.gauge({ ...GAUGE, labels: [] }, () => value);
    expect(linesOf(await metrics.text(), 'varve_test')).toEqual([]);
    value = 7;
    expect(linesOf(await metrics.text(), 'varve_test')).toEqual(['varve_test 7']);
  });

  it('omits a gauge that cannot be read, and shows the others', async () => {
    const metrics = createMetrics();
    metrics.gauge({ ...GAUGE, labels: [] }, async () => {
      throw new Error('gone');
    });
    metrics.counter(COUNTER).add(3);
    const text = await metrics.text();
    expect(linesOf(text, 'varve_test')).toEqual(['varve_test_total 3']);
    expect(linesOf(text, 'process_cpu_seconds_total')).toHaveLength(1);
  });

  it('shows a counter that other code counts', async () => {
    const metrics = createMetrics();
    let count = 1;
    metrics.total(COUNTER, () => count);
    expect(linesOf(await metrics.text(), 'varve_test_total')).toEqual(['varve_test_total 1']);
    count = 7;
    expect(linesOf(await metrics.text(), 'varve_test_total')).toEqual(['varve_test_total 7']);
  });

  it('refuses a name that is taken', () => {
    const metrics = createMetrics();
    metrics.counter(COUNTER);
    expect(() => metrics.counter(COUNTER)).toThrow(/already been registered/);
    metrics.durations(HISTOGRAM);
    expect(() => metrics.durations(HISTOGRAM)).toThrow(/already been registered/);
  });
});

it('shows the event loop and the process', async () => {
  const text = await createMetrics().text();
  for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes'])
    expect(linesOf(text, name)).toHaveLength(1);
});

it('names metrics by the conventions of Prometheus, each once', () => {
  const definitions = Object.values(METRICS);
  expect(new Set(definitions.map(({ name }) => name)).size).toBe(definitions.length);
  for (const { name, kind, help } of definitions) {
    expect(name).toMatch(/^varve_[a-z_]+$/);
    expect(name.endsWith('_total'), name).toBe(kind === 'counter');
    if (kind === 'histogram') expect(name).toMatch(/_seconds$/);
    expect(help).not.toBe('');
  }
});
