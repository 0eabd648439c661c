import { describe, expect, it, onTestFinished } from 'vitest';
import { createElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { IndexSpread } from '../../shared/read-index/elasticsearch/indices/create-index.ts';
import { buildRegistry } from '../../shared/schema/build-registry.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';

const space = `spread_${process.pid}`;

const json = {
  kind: 'collectionType',
  info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
  attributes: { title: { type: 'string' } },
};
const { registry } = buildRegistry([
  { model: 'contentType', file: 'note.json', namespace: 'api::note', json },
]);

/** Opens the indices like a leader. Returns the number of types whose indices had to be created. */
async function open(url: string, spread?: IndexSpread): Promise<number> {
  const connection = { url };
  const cluster = createElasticsearchCluster({ connection, space, registry, ...(spread && { spread }) });
  try {
    await cluster.fence.raise(1, async () => true);
    const { toBuild, promote } = await cluster.openIndices({
      log: 'one',
      replaceAll: false,
      distrusted: [],
      epoch: 1,
    });
    await promote();
    return toBuild.length;
  } finally {
    await cluster.close();
  }
}

/** Returns the shards and replicas of every index. */
async function spreads(url: string): Promise<readonly string[]> {
  const found = (await (await fetch(`${url}/${space}-*,-${space}-progress/_settings`)).json()) as Record<
    string,
    { settings: { index: { number_of_shards: string; number_of_replicas: string } } }
  >;
  return Object.values(found).map(
    ({ settings: { index } }) => `${index.number_of_shards} of ${index.number_of_replicas}`,
  );
}

describe('indices over the nodes of a cluster', await needsElasticsearch(), () => {
  it('keep their shards, and have the replicas that the last start set', async () => {
    const url = await elasticsearchUrl();
    onTestFinished(() => removeIndices(url, space));
    const types = await open(url, { shards: 2, replicas: 1 });
    expect(types).toBe(registry.contentTypes.size);
    expect(await spreads(url)).toEqual(Array(types * 2).fill('2 of 1'));
    expect(await open(url, { shards: 5, replicas: 0 })).toBe(0);
    expect(await spreads(url)).toEqual(Array(types * 2).fill('2 of 0'));
    expect(await open(url)).toBe(0);
    expect(await spreads(url)).toEqual(Array(types * 2).fill('2 of 0'));
  });

  it('have a replica as soon as the cluster has a second node, if the start sets no number', async () => {
    const url = await elasticsearchUrl();
    onTestFinished(() => removeIndices(url, space));
    await open(url);
    const expanding = async () => {
      const path = `${space}-*/_settings?filter_path=*.settings.index.auto_expand_replicas`;
      return (await (await fetch(`${url}/${path}`)).text()).match(/"auto_expand_replicas":"[^"]*"/g) ?? [];
    };
    expect(new Set(await expanding())).toEqual(new Set(['"auto_expand_replicas":"0-1"']));
    await open(url, { shards: 1, replicas: 0 });
    expect(new Set(await expanding())).toContain('"auto_expand_replicas":"false"');
  });
});
