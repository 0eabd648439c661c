import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { valueWithin } from '../../shared/value-within.ts';
import { createDurationHistogram, type DurationHistogram } from './duration-histogram.ts';
import type { MetricDefinition } from './metric-definitions.ts';

/** Current value, with the values of its labels. */
export type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

/** Values of a metric, as `json` has them. */
export type MetricValues = {
  readonly name: string;
  readonly values: readonly {
    /** Name of a histogram's series: of its buckets, its sum or its count. */
    readonly metricName?: string;
    readonly labels: Readonly<Record<string, string | number>>;
    readonly value: number;
  }[];
};

/** Metrics of a process. Each part of the process adds its own. A name can be added only once. */
export type Metrics = ReturnType<typeof createMetrics>;

type Kind<Of extends MetricDefinition['kind']> = MetricDefinition & { readonly kind: Of };

/** Creates the metrics of a process. Includes prom-client's metrics of the process: CPU, memory, garbage collection, event loop delay. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counting: { reset(): void }[] = [];
  /** Adds a gauge with labels. Calls `read` at every scrape. If it rejects or takes too long, the scrape omits the gauge. */
  const samples = (
    { name, help, labels, ofWorkers }: Kind<'gauge'>,
    read: () => readonly Sample[] | Promise<readonly Sample[]>,
  ): void => {
    const gauge = new Gauge({
      name,
      help,
      labelNames: labels,
      registers: [registry],
      async collect() {
        const asked = Promise.resolve().then(read);
        const found = (await valueWithin(READ_LIMIT_MS, asked).catch(() => undefined)) ?? [];
        gauge.reset();
        // A reset sets a gauge without labels to 0.
        if (found.length === 0 && labels.length === 0) gauge.remove();
        for (const sample of found) gauge.set(sample.labels, sample.value);
      },
    });
    // Prom-client reads this property of a metric, but its declared options lack it.
    Object.assign(gauge, { aggregator: ofWorkers ?? 'max' });
  };
  return {
    durations(definition: Kind<'histogram'>): DurationHistogram {
      const histogram = createDurationHistogram(registry, definition);
      counting.push(histogram);
      return histogram;
    },
    counter({ name, help }: Kind<'counter'>): { add(count: number): void } {
      const counter = new Counter({ name, help, registers: [registry] });
      counting.push(counter);
      return { add: (count) => counter.inc(count) };
    },
    /** Adds a counter that other code maintains. */
    total({ name, help }: Kind<'counter'>, read: () => number): void {
      new Counter({
        name,
        help,
        registers: [registry],
        collect() {
          const total = totalOf(read);
          if (total === undefined) return;
          this.reset();
          this.inc(total);
        },
      });
    },
    samples,
    /** Adds a gauge without labels. A scrape omits it if `read` returns undefined or rejects. */
    gauge(definition: Kind<'gauge'>, read: () => number | undefined | Promise<number | undefined>): void {
      samples(definition, async () => {
        const value = await read();
        return value === undefined ? [] : [{ labels: {}, value }];
      });
    },
    /** Sets all durations and counters to zero. */
    reset(): void {
      for (const each of counting) each.reset();
    },
    /** Returns the metrics in Prometheus' text format. */
    text: () => registry.metrics(),
    /** Returns the metrics as data for `textOfWorkers`. */
    json: (): Promise<readonly object[]> => registry.getMetricsAsJSON(),
    /** Returns the current values of some metrics. A name that no part of the process has added is omitted. */
    async values(names: readonly string[]): Promise<readonly MetricValues[]> {
      const found = names.flatMap((name) => registry.getSingleMetric(name) ?? []);
      return Promise.all(found.map((metric) => metric.get())) as Promise<readonly MetricValues[]>;
    },
    contentType: registry.contentType,
  };
}

/** A scrape does not wait longer for one gauge, which may ask another server. */
const READ_LIMIT_MS = 2_000;

/** Returns undefined if the counter cannot be read now: the last value stays. */
function totalOf(read: () => number): number | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Returns the text of the joined metrics of several workers. */
export function textOfWorkers(all: readonly (readonly object[])[]): Promise<string> {
  return AggregatorRegistry.aggregate(all.map((metrics) => [...metrics])).metrics();
}
