import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createElasticsearchCluster,
  type ElasticsearchCluster,
} from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { OpenedIndices } from '../../shared/read-index/elasticsearch/indices/open-indices.ts';
import { buildRegistry } from '../../shared/schema/build-registry.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';

/** The indices that leaders make, of which one may have been replaced and not know it. */
const space = `opened_${process.pid}`;
const json = {
  kind: 'collectionType',
  info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
  attributes: { text: { type: 'string' } },
};
const { registry } = buildRegistry([
  { model: 'contentType', file: 'note.json', namespace: 'api::note', json },
]);

let url = '';
const clusters: ElasticsearchCluster[] = [];

function openCluster(): ElasticsearchCluster {
  const cluster = createElasticsearchCluster({ connection: { url }, space, registry });
  clusters.push(cluster);
  return cluster;
}

/** Makes all indices, as a leader of this epoch. */
function openAll({ openIndices }: ElasticsearchCluster, epoch: number): Promise<OpenedIndices> {
  return openIndices({ log: 'one', replaceAll: true, epoch });
}

async function existing(): Promise<ReadonlySet<string>> {
  return new Set(Object.keys((await (await fetch(`${url}/${space}-*`)).json()) as object));
}

describe('the indices that a leader makes', await needsElasticsearch(), () => {
  beforeEach(async () => {
    url = await elasticsearchUrl();
  }, 240_000);
  afterEach(async () => {
    await Promise.all(clusters.splice(0).map((cluster) => cluster.close()));
    await removeIndices(url, space);
  });

  it('are not those that another one makes at the same time', { timeout: 120_000 }, async () => {
    const [one, other] = await Promise.all([openAll(openCluster(), 1), openAll(openCluster(), 2)]);
    const names = [...Object.values(one.set), ...Object.values(other.set)];
    expect(names.length).toBe(registry.contentTypes.size * 4);
    expect(new Set(names).size).toBe(names.length);
  });

  it('are read from the switch on, also if it is repeated, and replace others later', {
    timeout: 120_000,
  }, async () => {
    const cluster = openCluster();
    await cluster.fence.raise(1, async () => true);
    const first = await openAll(cluster, 1);
    expect([first.replaces, await first.promote()]).toEqual([false, true]);
    const next = await openAll(cluster, 1);
    expect([next.replaces, await next.promote(), await next.promote()]).toEqual([true, true, true]);
    expect(await cluster.indices.refresh()).toEqual(next.set);
    expect([...(await existing())]).toEqual(expect.arrayContaining(Object.values(first.set)));
    await next.removeReplaced();
    const left = await existing();
    expect(Object.values(first.set).filter((index) => left.has(index))).toEqual([]);
    expect([...left]).toEqual(expect.arrayContaining(Object.values(next.set)));
  });

  it('are not read after another leader has taken over, which removes them', {
    timeout: 120_000,
  }, async () => {
    const [paused, other] = [openCluster(), openCluster()];
    await paused.fence.raise(1, async () => true);
    const lost = await openAll(paused, 1);
    await other.fence.raise(2, async () => true);
    expect(await lost.promote()).toBe(false);
    const made = await openAll(other, 2);
    await expect(lost.promote()).rejects.toThrow('index_not_found_exception');
    expect(await made.promote()).toBe(true);
    expect(await paused.indices.refresh()).toEqual(made.set);
    const left = await existing();
    expect(Object.values(lost.set).filter((index) => left.has(index))).toEqual([]);
  });
});
