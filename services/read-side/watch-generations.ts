import { isEnded } from '../../projections/generations/generation.ts';
import type { GenerationStore } from '../../projections/generations/generation-store.ts';
import { METRICS } from '../operating/metric-definitions.ts';
import type { Metrics } from '../operating/metrics.ts';

/**
 * Says at every scrape which generation serves, and how far the one in the making is. `isOwner`: false where another process of
 * the server says that.
 */
export function watchGenerations(metrics: Metrics | undefined, store: GenerationStore, isOwner = true): void {
  if (metrics === undefined || !isOwner) return;
  const progress = () => {
    const rebuild = store.rebuild();
    return rebuild === undefined || isEnded(rebuild.phase) ? undefined : rebuild.progress;
  };
  const one = (value: number) => [{ labels: {}, value }];
  metrics.gauge(METRICS.generation, () => one(store.live().number));
  metrics.gauge(METRICS.rebuildProgress, () => {
    const { done, total } = progress() ?? { done: 1, total: 1 };
    return one(total === 0 ? 0 : done / total);
  });
  metrics.gauge(METRICS.rebuildLag, () => one(progress()?.lag ?? 0));
}
