import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { removeSet } from '../../shared/read-index/elasticsearch/indices/remove-set.ts';
import { sweepSets } from '../../shared/read-index/elasticsearch/indices/sweep-sets.ts';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/wire/client.ts';

/** Removals when the node that is asked has not heard of the last changes. The master decides, as `elasticsearch-stale-node` shows. */
const SET = { 'v-cook-draft': 'v-cook-draft-2', 'v-cook-published': 'v-cook-published-2' };
const [DRAFT, PUBLISHED] = Object.values(SET) as [string, string];
const FENCE = { 'v-progress': ['v-lead-7'] };

type Indices = Readonly<Record<string, readonly string[]>>;
type Change = { readonly index: string; readonly alias: string; readonly must_exist?: boolean };
type Action = { readonly add?: Change; readonly remove?: Change };

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

/** Creates a master with these indices and aliases. It carries out all of a change, or refuses it. */
function createMaster(decided: Indices) {
  const indices = new Map(Object.entries(decided).map(([index, aliases]) => [index, new Set(aliases)]));
  const refusalOf = ({ add, remove }: Action): string | undefined => {
    const { index, alias } = (add ?? remove) as Change;
    if (!indices.has(index)) return 'index_not_found_exception';
    const isMissing = remove?.must_exist === true && !indices.get(index)?.has(alias);
    return isMissing ? 'aliases_not_found_exception' : undefined;
  };
  const change = (actions: readonly Action[]): string | undefined => {
    const refusal = actions.map(refusalOf).find((each) => each !== undefined);
    if (refusal !== undefined) return refusal;
    for (const { add, remove } of actions) {
      if (remove !== undefined) indices.get(remove.index)?.delete(remove.alias);
      if (add !== undefined) indices.get(add.index)?.add(add.alias);
    }
    return undefined;
  };
  return { indices, change };
}

/** Starts a node that knows these indices with their aliases. `decided`: those of the master. */
async function startNode(node: Indices, decided: Indices) {
  const { indices, change } = createMaster(decided);
  const answerTo = async ({ method = '', url = '' }: IncomingMessage, body: string) => {
    const path = decodeURIComponent(url.split('?')[0] ?? '');
    if (method === 'GET') return namesToAliases(node);
    if (path === '/_aliases') return change((JSON.parse(body) as { actions: Action[] }).actions);
    const names = path.split('/')[1]?.split(',') ?? [];
    for (const name of names) if (method === 'DELETE') indices.delete(name);
    return undefined;
  };
  const server = createServer(async (request, answer) => {
    const found = await answerTo(request, Buffer.concat(await request.toArray()).toString());
    const error = typeof found === 'string' ? { error: { type: found } } : undefined;
    answer.writeHead(error === undefined ? 200 : 404, {
      'content-type': 'application/vnd.elasticsearch+json;compatible-with=9',
      'x-elastic-product': 'Elasticsearch',
    });
    answer.end(JSON.stringify(error ?? found ?? { acknowledged: true }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = createElasticsearchClient({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  open.push(
    () => client.close(),
    () => server.close(),
  );
  return { client, left: () => Object.fromEntries([...indices].map(([name, has]) => [name, [...has]])) };
}

function namesToAliases(indices: Indices): object {
  return Object.fromEntries(
    Object.entries(indices).map(([index, aliases]) => [
      index,
      { aliases: Object.fromEntries(aliases.map((alias) => [alias, {}])) },
    ]),
  );
}

describe('a set of indices is removed', () => {
  const kept = { [DRAFT]: ['v-kept'], [PUBLISHED]: ['v-kept'] };
  const live = { [DRAFT]: ['v-cook-draft'], [PUBLISHED]: ['v-cook-published'] };

  it('if it is kept', async () => {
    const { client, left } = await startNode(kept, kept);
    await removeSet(client, 'v', SET);
    expect(left()).toEqual({});
  });

  it('but for what searches find', async () => {
    const one = { ...kept, [DRAFT]: ['v-cook-draft'] };
    const { client, left } = await startNode(one, one);
    await removeSet(client, 'v', SET);
    expect(left()).toEqual({ [DRAFT]: ['v-cook-draft'] });
  });

  it('not if it became live and the node has not heard of it: it rejects', async () => {
    const { client, left } = await startNode(kept, live);
    await expect(removeSet(client, 'v', SET)).rejects.toThrow(`does not give ${DRAFT} up: it is live`);
    expect(left()).toEqual(live);
  });

  it('not if it was made and became live, and the node knows none of it', async () => {
    const { client, left } = await startNode({}, live);
    await expect(removeSet(client, 'v', SET)).rejects.toThrow('it is live');
    expect(left()).toEqual(live);
  });

  it('if an earlier attempt marked it, and if an index of it is missing', async () => {
    const { client, left } = await startNode({ [DRAFT]: ['v-dropped'] }, { [DRAFT]: ['v-dropped'] });
    await removeSet(client, 'v', SET);
    expect(left()).toEqual({});
  });

  it('if the answer to marking it was lost, so that it is marked again', async () => {
    const { client, left } = await startNode(kept, { [DRAFT]: ['v-dropped'], [PUBLISHED]: ['v-dropped'] });
    await removeSet(client, 'v', SET);
    expect(left()).toEqual({});
  });

  it('if a node still says that a deleted index is kept', async () => {
    const { client, left } = await startNode(kept, { [PUBLISHED]: ['v-kept'] });
    await removeSet(client, 'v', SET);
    expect(left()).toEqual({});
  });

  it('by the leader if no process continues it, but not if it became live before the fence', async () => {
    const building = { ...FENCE, [DRAFT]: ['v-kept', 'v-building-other'], [PUBLISHED]: ['v-kept'] };
    const sweep = { space: 'v', directory: 'own', epoch: 7, recorded: () => new Set<string>() };
    const forgotten = await startNode(building, building);
    await sweepSets({ client: forgotten.client, previousOfOthers: false, ...sweep });
    expect(Object.keys(forgotten.left())).toEqual(['v-progress', PUBLISHED]);
    const switched = await startNode(building, { ...FENCE, ...live });
    const swept = await sweepSets({ client: switched.client, previousOfOthers: false, ...sweep });
    expect([swept.removed, switched.left()]).toEqual([[], { ...FENCE, ...live }]);
  });
});
