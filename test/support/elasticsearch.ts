import { inject } from 'vitest';
import { isElasticsearchRequired, startElasticsearch } from './elasticsearch-node.ts';
import { isLongRun, type SkipOptions, takesMinutes } from './takes-minutes.ts';

let started: Promise<string> | undefined;

/** Returns the address of the run's Elasticsearch, and starts it first. */
export function elasticsearchUrl(): Promise<string> {
  started ??= startElasticsearch(inject('elasticsearch'), 'for tests');
  return started;
}

/**
 * Returns the options of a suite or test on Elasticsearch: `describe(name, await needsElasticsearch(), …)`. It starts Elasticsearch
 * first. If that fails, the suite is skipped with the reason, except with VARVE_REQUIRE_ELASTICSEARCH=1. If `options` already skip the
 * suite, nothing is started. By default, only runs of the long tests and runs that ask for Elasticsearch use it.
 */
export async function needsElasticsearch(options = unlessAskedFor()): Promise<SkipOptions> {
  if (options.skip) return options;
  const why = await whyNoElasticsearch();
  return why === undefined ? options : { skip: true, meta: { skipReason: why } };
}

function unlessAskedFor(): SkipOptions {
  const { env } = process;
  if (env['VARVE_TEST_ELASTICSEARCH'] || (isElasticsearchRequired(env) && !isLongRun())) return {};
  return takesMinutes('tests on Elasticsearch');
}

/** Returns the reason why Elasticsearch does not answer, in one line, or undefined if it answers. */
export async function whyNoElasticsearch(): Promise<string | undefined> {
  try {
    await elasticsearchUrl();
    return undefined;
  } catch (error) {
    if (isElasticsearchRequired(process.env)) throw error;
    return (error as Error).message;
  }
}

/** Returns the options of a suite that kills its own node. */
export async function needsOwnElasticsearch(options: SkipOptions = {}): Promise<SkipOptions> {
  if (inject('elasticsearch').kind !== 'running') return needsElasticsearch(options);
  const skipReason = 'needs a node of its own, and VARVE_TEST_ELASTICSEARCH names one that runs';
  return { skip: true, meta: { skipReason } };
}
