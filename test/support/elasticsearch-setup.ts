import type { TestProject } from 'vitest/node';
import { type ElasticsearchPlan, planElasticsearch, stopElasticsearch } from './elasticsearch-node.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly elasticsearch: ElasticsearchPlan;
  }
}

/** One Elasticsearch for all files of a run, stopped after the last. Nothing starts before a suite needs it. */
export async function setup({ provide }: TestProject): Promise<() => void> {
  const plan = await planElasticsearch();
  provide('elasticsearch', plan);
  return () => stopElasticsearch(plan);
}
