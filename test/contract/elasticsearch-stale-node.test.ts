import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createElasticsearchCluster,
  type ElasticsearchCluster,
} from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { removeSet } from '../../shared/read-index/elasticsearch/indices/remove-set.ts';
import { sweepSets } from '../../shared/read-index/elasticsearch/indices/sweep-sets.ts';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/wire/client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchProxy, startElasticsearchProxy } from '../support/elasticsearch-proxy.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { libraryRegistry } from './read-index-library.ts';

/** Each node of Elasticsearch answers from what it knows itself. A node that was paused may not have heard of a switch. */
const space = `late_${process.pid}`;
const OPENING = { log: 'one', replaceAll: false, distrusted: [] };

describe('no live index is removed after a node said that it is not live', await needsElasticsearch(), () => {
  let url: string;
  let proxy: ElasticsearchProxy;
  let cluster: ElasticsearchCluster;
  let late: ElasticsearchCluster;
  beforeEach(async () => {
    url = await elasticsearchUrl();
    proxy = await startElasticsearchProxy(url);
    const registry = libraryRegistry();
    cluster = createElasticsearchCluster({ connection: { url }, space, registry });
    late = createElasticsearchCluster({ connection: { url: proxy.url }, space, registry });
  }, 240_000);
  afterEach(async () => {
    await cluster.close();
    await late.close();
    proxy.close();
    await removeIndices(url, space);
  });

  const existing = async (): Promise<readonly string[]> =>
    Object.keys((await (await fetch(`${url}/${space}-*`)).json()) as object);

  /** The proxy answers later questions about indices as the node does now. */
  const freeze = async () => {
    const known = new Map<string, unknown>();
    for (const path of [`/${space}-*`, `/${space}-*/_alias`])
      known.set(path, await (await fetch(`${url}${path}?expand_wildcards=all`)).json());
    proxy.intercept(({ method, path }) => {
      const json = known.get(decodeURIComponent(path.split('?')[0] ?? ''));
      return method === 'GET' && json !== undefined ? { status: 200, json } : undefined;
    });
  };

  /** Makes a second set next to the live one. */
  const makeNext = async () => {
    expect(await cluster.fence.raise(1, async () => true)).toBe(true);
    const first = await cluster.openIndices({ ...OPENING, epoch: 1 });
    expect(await first.promote()).toBe(true);
    const sets = cluster.sets('one', 'directory');
    const next = await sets.plan({});
    await sets.make(next);
    return { sets, next };
  };

  it('neither with its set nor as a forgotten one', { timeout: 240_000 }, async () => {
    const { sets, next } = await makeNext();
    await freeze();
    expect(await sets.promote(next, 1)).toBe(true);
    const client = createElasticsearchClient({ url: proxy.url });
    try {
      await expect(removeSet(client, space, next)).rejects.toThrow('it is live');
      const sweep = { client, space, directory: 'directory', previousOfOthers: true };
      const swept = await sweepSets({ ...sweep, epoch: 1, recorded: () => new Set() });
      expect(swept.removed).toEqual([]);
      expect(await sets.live()).toEqual(next);
      // The node has heard of the switch: the earlier set is removed.
      proxy.intercept(() => undefined);
      const before = (await existing()).filter((index) => !Object.values(next).includes(index));
      const { removed } = await sweepSets({ ...sweep, epoch: 1, recorded: () => new Set() });
      expect([...removed, `${space}-progress`].sort()).toEqual([...before].sort());
    } finally {
      await client.close();
    }
  });

  it('nor as one that never became complete', { timeout: 240_000 }, async () => {
    expect(await cluster.fence.raise(1, async () => true)).toBe(true);
    const first = await cluster.openIndices({ ...OPENING, epoch: 1 });
    await freeze();
    expect(await first.promote()).toBe(true);
    expect(await cluster.fence.raise(2, async () => true)).toBe(true);
    const next = await late.openIndices({ ...OPENING, epoch: 2 });
    const left = await existing();
    expect([...left].sort()).toEqual(
      [`${space}-progress`, ...Object.values(first.set), ...Object.values(next.set)].sort(),
    );
  });
});
