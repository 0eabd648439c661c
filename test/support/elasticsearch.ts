import { inject } from 'vitest';
import { isElasticsearchRequired, startElasticsearch } from './elasticsearch-node.ts';
import { type SkipOptions, takesMinutes } from './takes-minutes.ts';

let started: Promise<string> | undefined;

/** The address of the run's Elasticsearch. */
export function elasticsearchUrl(): Promise<string> {
  started ??= startElasticsearch(inject('elasticsearch'), 'for tests');
  return started;
}

/**
 * Options of a suite or test on Elasticsearch: `describe(name, await needsElasticsearch(), …)`. Starts it first; what cannot be
 * started is a skip with the reason, save where VARVE_REQUIRE_ELASTICSEARCH=1. Suites that `options` skip start nothing.
 * Default: those of a run without minutes, unless its environment asks for Elasticsearch.
 */
export async function needsElasticsearch(options = unlessAskedFor()): Promise<SkipOptions> {
  if (options.skip) return options;
  const why = await whyNoElasticsearch();
  return why === undefined ? options : { skip: true, meta: { skipReason: why } };
}

function unlessAskedFor(): SkipOptions {
  const { env } = process;
  if (env['VARVE_TEST_ELASTICSEARCH'] || isElasticsearchRequired(env)) return {};
  return takesMinutes('tests on Elasticsearch');
}

/** Returns a line with the reason why Elasticsearch does not answer; undefined if it answers. */
export async function whyNoElasticsearch(): Promise<string | undefined> {
  try {
    await elasticsearchUrl();
    return undefined;
  } catch (error) {
    if (isElasticsearchRequired(process.env)) throw error;
    return (error as Error).message;
  }
}

/** The same for suites that kill a node of their own. */
export async function needsOwnElasticsearch(options: SkipOptions = {}): Promise<SkipOptions> {
  if (inject('elasticsearch').kind !== 'running') return needsElasticsearch(options);
  const skipReason = 'needs a node of its own, and VARVE_TEST_ELASTICSEARCH names one that runs';
  return { skip: true, meta: { skipReason } };
}
