import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createDurationHistogram, type DurationHistogram } from './duration-histogram.ts';
import type { MetricDefinition } from './metric-definitions.ts';

/** Current value, with the values of its labels. */
export type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

/** Metrics of a process. Each part of the process adds its own. A name can be added only once. */
export type Metrics = ReturnType<typeof createMetrics>;

type Kind<Of extends MetricDefinition['kind']> = MetricDefinition & { readonly kind: Of };

/** Creates the metrics of a process. Includes prom-client's metrics of the process: CPU, memory, garbage collection, event loop delay. */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counting: { reset(): void }[] = [];
  /** Adds a gauge with labels. Calls `read` at every scrape. If it rejects, the scrape omits the gauge. */
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
        const found = await Promise.resolve()
          .then(read)
          .catch(() => []);
        gauge.reset();
        if (found.length === 0) gauge.remove();
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
          this.reset();
          this.inc(read());
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
    contentType: registry.contentType,
  };
}

/** Returns the text of the joined metrics of several workers. */
export function textOfWorkers(all: readonly (readonly object[])[]): Promise<string> {
  return AggregatorRegistry.aggregate(all.map((metrics) => [...metrics])).metrics();
}
