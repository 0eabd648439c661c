import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { defined } from '../../shared/defined.ts';
import { MATCH_ALL } from '../../shared/read-index/bool-query.ts';
import {
  createElasticsearchCluster,
  type ElasticsearchCluster,
  isPassingFailure,
} from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { OpenedIndices } from '../../shared/read-index/elasticsearch/indices/open-indices.ts';
import { buildRegistry } from '../../shared/schema/build-registry.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { startElasticsearchProxy } from '../support/elasticsearch-proxy.ts';
import { removeIndices } from '../support/remove-indices.ts';

/** Indices that leaders create. One of the leaders may have been replaced without noticing. */
const space = `opened_${process.pid}`;
const json = {
  kind: 'collectionType',
  info: { singularName: 'note', pluralName: 'notes', displayName: 'Note' },
  attributes: { text: { type: 'string' } },
};
const { registry } = buildRegistry([
  { model: 'contentType', file: 'note.json', namespace: 'api::note', json },
]);

const type = 'api::note.note' as Uid;

let url = '';
const clusters: ElasticsearchCluster[] = [];

/** `now`: the clock by which it reads the live indices again. */
function openCluster(now?: () => number): ElasticsearchCluster {
  const cluster = createElasticsearchCluster({ connection: { url }, space, registry, ...defined({ now }) });
  clusters.push(cluster);
  return cluster;
}

/** Creates all indices, as a leader of this epoch. */
function openAll({ openIndices }: ElasticsearchCluster, epoch: number): Promise<OpenedIndices> {
  return openIndices({ log: 'one', replaceAll: true, distrusted: [], epoch });
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

  it('are separate from those that another leader makes at the same time', { timeout: 300_000 }, async () => {
    const [one, other] = await Promise.all([openAll(openCluster(), 1), openAll(openCluster(), 2)]);
    const names = [...Object.values(one.set), ...Object.values(other.set)];
    expect(names.length).toBe(registry.contentTypes.size * 4);
    expect(new Set(names).size).toBe(names.length);
  });

  it('are read after the switch, also if it is repeated, and replace the other indices later', {
    timeout: 300_000,
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

  it.each([
    ['made', true],
    ['not made', false],
  ])(
    'are made and switched to once all nodes confirm it, if a change that was not confirmed in time was %s',
    { timeout: 300_000 },
    async (_what, isMade) => {
      const proxy = await startElasticsearchProxy(url);
      onTestFinished(proxy.close);
      /** Kinds of changes that were not confirmed yet. */
      const waiting = new Set(['PUT index', 'POST _aliases', 'DELETE index']);
      proxy.intercept(async ({ method, path, body }) => {
        const isSearched = !path.startsWith(`/${space}-progress`) && path.startsWith(`/${space}`);
        const kind = path.startsWith('/_aliases') ? `${method} _aliases` : `${method} index`;
        if (!(isSearched || path.startsWith('/_aliases')) || !waiting.delete(kind)) return undefined;
        const headers = { 'content-type': 'application/json' };
        if (isMade) await fetch(`${url}${path}`, { method, headers, ...(body !== '' && { body }) });
        return { status: 200, json: { acknowledged: false, shards_acknowledged: false } };
      });
      const cluster = createElasticsearchCluster({ connection: { url: proxy.url }, space, registry });
      clusters.push(cluster);
      const repeated = async <Result>(work: () => Promise<Result>): Promise<readonly [number, Result]> => {
        for (let failures = 0; ; failures++) {
          try {
            return [failures, await work()];
          } catch (error) {
            expect((error as Error).message).toContain('not all nodes of the cluster have confirmed');
            expect(isPassingFailure(error)).toBe(true);
          }
        }
      };
      expect(await repeated(() => cluster.fence.raise(1, async () => true))).toEqual([1, true]);
      expect(await cluster.fence.newest()).toBe(1);
      const [, opened] = await repeated(() => openAll(cluster, 1));
      waiting.add('POST _aliases');
      expect(await repeated(opened.promote)).toEqual([1, true]);
      expect(await cluster.indices.refresh()).toEqual(opened.set);
      const [, next] = await repeated(() => openAll(cluster, 1));
      expect(await repeated(next.promote)).toEqual([0, true]);
      await repeated(next.removeReplaced);
      expect(waiting.size).toBe(0);
      expect([...(await existing())].sort()).toEqual(
        [`${space}-progress`, ...Object.values(next.set)].sort(),
      );
      const sets = cluster.sets('one', 'directory');
      const planned = await sets.plan({});
      waiting.add('PUT index').add('POST _aliases');
      await repeated(() => sets.make(planned));
      expect(await repeated(() => sets.promote(planned, 1))).toEqual([1, true]);
      expect([await sets.live(), await sets.fits(planned), waiting.size]).toEqual([planned, true, 0]);
    },
  );

  it('are never found under the name of a deleted index by a process that has not noticed the deletion', {
    timeout: 300_000,
  }, async () => {
    const [leader, late] = [openCluster(), openCluster(() => 0)];
    await leader.fence.raise(1, async () => true);
    const first = await openAll(leader, 1);
    await first.promote();
    leader.use(first.set);
    const page = { sort: [], from: 0, size: 10, withTotal: true } as const;
    const read = () => late.reader.search({ type, world: 'published', query: MATCH_ALL, ...page });
    expect(await read()).toMatchObject({ total: 0 });
    const used = [first.set];
    for (let round = 1; round <= 3; round++) {
      await fetch(`${url}/${Object.values(used.at(-1) ?? {}).join()}`, { method: 'DELETE' });
      await expect(read()).rejects.toThrow('The read index cannot be reached right now');
      const again = await leader.openIndices({ log: 'one', replaceAll: false, distrusted: [type], epoch: 1 });
      // They exist now, and are empty.
      expect([...(await existing())]).toEqual(expect.arrayContaining(Object.values(again.set)));
      await expect(read()).rejects.toThrow('The read index cannot be reached right now');
      await again.promote();
      // In the second round they are deleted before this process uses them.
      if (round !== 2) leader.use(again.set);
      used.push(again.set);
    }
    const names = used.flatMap((set) => Object.values(set));
    expect(new Set(names).size).toBe(names.length);
  });

  it('are not read after another process became leader, which removes them', {
    timeout: 300_000,
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
