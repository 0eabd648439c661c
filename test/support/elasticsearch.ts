import { inject } from 'vitest';
import { startElasticsearch } from './elasticsearch-node.ts';

/** Whether this run has an Elasticsearch: `describe.runIf(hasElasticsearch())`. */
export function hasElasticsearch(): boolean {
  return inject('elasticsearch').kind !== 'none';
}

let started: Promise<string> | undefined;

/** The address of the run's Elasticsearch. */
export function elasticsearchUrl(): Promise<string> {
  started ??= startElasticsearch(inject('elasticsearch'), 'for tests');
  return started;
}
