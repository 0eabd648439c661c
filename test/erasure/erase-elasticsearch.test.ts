import { expect, it, onTestFinished } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { createApiClient } from '../support/api-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { findWords } from '../support/find-words.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const WORDS = ['Quixotellix', 'Umbragossen', 'Zanzibrillo'];
const PATH = '/api/restaurants';

const OPTIONS = {
  ...(await needsElasticsearch(takesMinutes('an erasure in Elasticsearch'))),
  timeout: 600_000,
};

it('leaves no document in Elasticsearch with a word of what was erased, and no copy', OPTIONS, async () => {
  const url = await elasticsearchUrl();
  const space = `erase_${process.pid}`;
  const server = await startServer({ env: { VARVE_READ_INDEX: url, VARVE_SPACE: space } });
  onTestFinished(async () => {
    await server.dispose();
    await removeIndices(url, space);
  });
  const ask = createAsk(server.url);
  const client = createApiClient(server.url);
  const write = (path: string, method: string, data: object) =>
    client.data<{ readonly documentId: string }>(method, path, { data });
  const create = async (body: object): Promise<string> =>
    (await write(`${PATH}?status=published`, 'POST', body)).documentId;
  /** Returns the number of documents in Elasticsearch with each word, in any field. */
  const found = async () => {
    await fetch(`${url}/${space}*/_refresh`, { method: 'POST' });
    const count = async (word: string) => {
      const answer = await fetch(`${url}/${space}*/_search?q=${word}`);
      return ((await answer.json()) as { hits: { total: { value: number } } }).hits.total.value;
    };
    return Promise.all(WORDS.map(count));
  };

  const chef = (await write('/api/chefs', 'POST', { key: 'chef', name: 'Berthold' })).documentId;
  const id = await create({
    key: 'it',
    name: WORDS[0],
    address: { street: WORDS[1] },
    chef: { connect: [chef] },
  });
  // The documents have copies of the parent's values.
  for (const key of ['a', 'b']) await create({ key, name: key, parent: { connect: [id] } });
  await write(`${PATH}/${id}?status=draft`, 'PUT', { name: WORDS[2] });
  // The published rows of three documents, and the drafts.
  await expect.poll(found).toEqual([3, 6, 3]);
  const request = { type: 'api::restaurant.restaurant', documentId: id, confirm: 1 };
  expect(await write('/_varve/erasures', 'POST', request)).toMatchObject({ erased: true });
  expect(await found()).toEqual([0, 0, 0]);
  expect((await ask(`${PATH}?filters[parent][name]=${WORDS[0]}`)).body.data).toEqual([]);
  expect((await ask(`${PATH}?filters[key]=a&populate=parent`)).body.data).toMatchObject([{ parent: null }]);
  expect(await findWords(server.data, WORDS)).toEqual([]);
});
