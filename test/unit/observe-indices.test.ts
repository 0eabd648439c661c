import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Client } from '@elastic/elasticsearch';
import { expect, onTestFinished, test } from 'vitest';
import {
  createWatchState,
  readDefinitions,
  type WatchIndicesOptions,
} from '../../services/elasticsearch/watch-state.ts';
import { createIndexObserver } from '../../shared/read-index/elasticsearch/indices/observe-indices.ts';
import { createWatchedIndices } from '../../shared/read-index/elasticsearch/indices/watched-indices.ts';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/wire/client.ts';

/** Returns a client of a node that gives these answers, one after the other. */
async function nodeThatAnswers(...answers: readonly object[]): Promise<Client> {
  const left = [...answers];
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').setHeader('x-elastic-product', 'Elasticsearch');
    response.end(JSON.stringify(left.shift()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createElasticsearchClient({ url: `http://127.0.0.1:${port}` });
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  return client;
}

/** Returns the content of an index whose primary shards report these commits. */
async function contentOf(commits: readonly (object | undefined)[]) {
  const shards = Object.fromEntries(
    commits.map((commit, n) => [n, [{ routing: { primary: true, node: 'n' }, ...(commit && { commit }) }]]),
  );
  const index = { uuid: 'u', status: 'open', health: 'yellow', shards };
  const client = await nodeThatAnswers({ indices: { 'a-tags-1': index } });
  return (await createIndexObserver(client, 'a').contents()).get('a-tags-1');
}

const commit = (history: string) => ({ user_data: { history_uuid: history } });

test('names the histories of all shards', async () => {
  expect(await contentOf([commit('h1'), commit('h2')])).toMatchObject({
    isAssigned: true,
    histories: 'h1,h2',
  });
});

test('takes a primary that reports no commit for one that does not answer, not for one of another history', async () => {
  expect(await contentOf([commit('h1'), undefined])).toMatchObject({ isAssigned: false });
  expect(await contentOf([])).toMatchObject({ isAssigned: false });
});

/** Returns the answer of a node that knows this state of a cluster, in which the index has this block. */
function stateOf(cluster_uuid: string, version: number, block: string) {
  const settings = { index: { blocks: { [block]: 'true' } } };
  return { cluster_uuid, version, metadata: { indices: { 'a-tags-1': { mapping_version: 1, settings } } } };
}

test('ignores the answer of a node whose state is older than the known one, unless it is in another cluster', async () => {
  const client = await nodeThatAnswers(
    stateOf('c1', 7, 'write'),
    stateOf('c1', 6, 'read'),
    stateOf('c1', 8, 'metadata'),
    stateOf('c2', 1, 'read'),
  );
  const watched = createWatchedIndices(client, 'a', new Map());
  const state = createWatchState({ cluster: { watched } } as unknown as WatchIndicesOptions);
  const seen: (readonly [number | undefined, string | undefined])[] = [];
  for (let turn = 0; turn < 4; turn++) {
    await readDefinitions(state);
    seen.push([state.observed?.version, state.definitions.get('a-tags-1')?.blocks.join()]);
  }
  expect(seen).toEqual([
    [7, 'write'],
    [7, 'write'],
    [8, 'metadata'],
    [1, 'read'],
  ]);
});
