import { isEnded } from '../../projections/generations/generation.ts';
import type { GenerationStore } from '../../projections/generations/generation-store.ts';
import { METRICS } from '../operating/metric-definitions.ts';
import type { Metrics } from '../operating/metrics.ts';

/**
 * Reports the live generation and the progress of the generation that is being built, at every scrape. `isOwner`: false if another process
 * of the server reports them.
 */
export function watchGenerations(metrics: Metrics | undefined, store: GenerationStore, isOwner = true): void {
  if (metrics === undefined || !isOwner) return;
  const progress = () => {
    const rebuild = store.rebuild();
    return rebuild === undefined || isEnded(rebuild.phase) ? undefined : rebuild.progress;
  };
  metrics.gauge(METRICS.generation, () => store.live().number);
  metrics.gauge(METRICS.rebuildProgress, () => {
    const { done, total } = progress() ?? { done: 1, total: 1 };
    return total === 0 ? 0 : done / total;
  });
  metrics.gauge(METRICS.rebuildLag, () => progress()?.lag ?? 0);
}
