import type { TestProject } from 'vitest/node';
import { type ElasticsearchPlan, planElasticsearch, stopElasticsearch } from './elasticsearch-node.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly elasticsearch: ElasticsearchPlan;
  }
}

/** One Elasticsearch for all files of a run, stopped after the last. Nothing starts before a test asks for it. */
export async function setup({ provide }: TestProject): Promise<() => void> {
  const plan = await planElasticsearch();
  if (plan.kind === 'none') {
    const required = process.env['VARVE_REQUIRE_ELASTICSEARCH'] === '1';
    const message = `tests on Elasticsearch are skipped: ${plan.why}`;
    if (required) throw new Error(`VARVE_REQUIRE_ELASTICSEARCH=1, but ${message}`);
    process.stdout.write(`${message}\n`);
  }
  provide('elasticsearch', plan);
  return () => stopElasticsearch(plan);
}
