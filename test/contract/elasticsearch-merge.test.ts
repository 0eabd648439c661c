import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { libraryRegistry, TOWN } from './read-index-library.ts';

const space = `merged_${process.pid}`;
const [BATCHES, ROWS] = [4, 40];
const skip = takesMinutes(
  'a merge waits up to 30 s until Elasticsearch releases the operations of a filling',
);

describe('the segments of filled indices', await needsElasticsearch(skip), () => {
  let url = '';
  beforeAll(async () => {
    url = await elasticsearchUrl();
  }, 240_000);
  afterAll(() => removeIndices(url, space));

  const segmentsOf = async (index: string) => {
    const answer = await fetch(`${url}/_cat/segments/${index}?format=json`);
    return ((await answer.json()) as readonly unknown[]).length;
  };
  const storedSources = async (index: string) => {
    const path = `${url}/${index}/_disk_usage?run_expensive_tasks=true`;
    const usage = (await (await fetch(path, { method: 'POST' })).json()) as Record<string, Usage>;
    return usage[index]?.fields?.['_recovery_source']?.total_in_bytes ?? 0;
  };

  it('are one after a merge, and no longer have the JSON of the documents', {
    timeout: 240_000,
  }, async () => {
    const connection = { url };
    const cluster = createElasticsearchCluster({ connection, space, registry: libraryRegistry() });
    const opening = { log: 'one', replaceAll: true, distrusted: [], epoch: 1 };
    const { made, set } = await cluster.openIndices(opening);
    const writer = cluster.createWriter(set);
    const row = (key: number) => ({
      source: Buffer.from(`{"id":${key}}`),
      fields: { id: key, documentId: `town${key}`, name: `Town ${key}` },
      components: {},
    });
    const neighbours = { linked: () => [], row: (_: string, key: number) => row(key) };
    for (let batch = 0; batch < BATCHES; batch++) {
      const documents = Array.from({ length: ROWS }, (_, i) =>
        writer.present(
          { type: TOWN, world: 'published', key: 10 + batch * ROWS + i, position: 1n },
          neighbours,
        ),
      );
      await writer.write(documents, { refresh: true });
    }
    const index = made.find((name) => name.includes('town-published')) ?? '';
    expect(await segmentsOf(index)).toBeGreaterThan(1);
    expect(await storedSources(index)).toBeGreaterThan(0);
    await cluster.merge([index], new AbortController().signal);
    expect(await segmentsOf(index)).toBe(1);
    expect(await storedSources(index)).toBe(0);
    const counted = (await (await fetch(`${url}/${index}/_count`)).json()) as { readonly count: number };
    expect(counted.count).toBe(BATCHES * ROWS);
    await cluster.close();
  });
});

type Usage = { readonly fields?: { readonly [field: string]: { readonly total_in_bytes: number } } };
