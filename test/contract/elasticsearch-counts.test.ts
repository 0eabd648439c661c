import type { Client } from '@elastic/elasticsearch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWatchedIndices } from '../../shared/read-index/elasticsearch/indices/watched-indices.ts';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/wire/client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';

const space = `counts_${process.pid}`;
const [INDEX, NONE] = [`${space}-tags-1`, `${space}-none-1`];

describe('numbers of documents in an index', await needsElasticsearch(), () => {
  let url: string;
  let client: Client;
  beforeAll(async () => {
    url = await elasticsearchUrl();
    client = createElasticsearchClient({ url });
  }, 240_000);
  afterAll(async () => {
    await client?.close();
    await removeIndices(url, space);
  });

  it('count no nested parts, and notice what another program writes', async () => {
    const { observer } = createWatchedIndices(client, space, new Map());
    await client.indices.create({
      index: INDEX,
      settings: { refresh_interval: '-1' },
      mappings: { properties: { parts: { type: 'nested', properties: { n: { type: 'long' } } } } },
    });
    const operations = async () => (await observer.contents()).get(INDEX)?.operations;
    for (const id of ['1', '2', '3'])
      await client.index({ index: INDEX, id, document: { parts: [{ n: 1 }, { n: 2 }] } });
    expect(await observer.count([INDEX, NONE])).toEqual([0, undefined]);
    await observer.refresh([INDEX]);
    expect(await observer.count([INDEX, NONE])).toEqual([3, undefined]);
    expect(await operations()).toBe(3);
    await client.delete({ index: INDEX, id: '2' });
    expect(await operations()).toBe(4);
    await observer.refresh([INDEX]);
    expect(await observer.count([NONE, INDEX])).toEqual([undefined, 2]);
  });
});
