import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createIndexObserver } from '../../shared/read-index/elasticsearch/indices/observe-indices.ts';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/wire/client.ts';

/** Returns the content of an index whose primary shards report these commits. */
async function contentOf(commits: readonly (object | undefined)[]) {
  const shards = Object.fromEntries(
    commits.map((commit, n) => [n, [{ routing: { primary: true, node: 'n' }, ...(commit && { commit }) }]]),
  );
  const index = { uuid: 'u', status: 'open', health: 'yellow', shards };
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').setHeader('x-elastic-product', 'Elasticsearch');
    response.end(JSON.stringify({ indices: { 'a-tags-1': index } }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = createElasticsearchClient({ url: `http://127.0.0.1:${port}` });
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
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
