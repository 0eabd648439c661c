import type { TestProject } from 'vitest/node';
import { type ElasticsearchPlan, planElasticsearch, stopElasticsearch } from './elasticsearch-node.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly elasticsearch: ElasticsearchPlan;
  }
}

/**
 * Provides an Elasticsearch for all files of a run. It starts when a suite first needs it, and stops after the last
 * file.
 */
export async function setup({ provide }: TestProject): Promise<() => void> {
  const plan = await planElasticsearch();
  provide('elasticsearch', plan);
  return () => stopElasticsearch(plan);
}
