import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';

/** With the longest tags, the highlights of this text have 80 million letters. */
const TEXT = 'a '.repeat(400_000);
const TAG = 'x'.repeat(100);

let server: RunningServer;

beforeAll(async () => {
  server = await startServer();
  const written = await fetch(`${server.url}/api/reviews`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { key: 'long', text: TEXT } }),
  });
  expect(written.status).toBe(201);
});
afterAll(() => server?.dispose());

const find = (query: string) => fetch(`${server.url}/api/reviews?search=a&${query}`);

it('highlights that are too long for an answer are a 400', async () => {
  const refused = await find(`highlight=text&highlightPreTag=${TAG}&highlightPostTag=${TAG}`);
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    error: { message: 'The answer would have more than 67108864 letters', code: 'query-too-large' },
  });
  const snippet = await find('highlight[text][snippet]=2&fields=key');
  expect(await snippet.json()).toMatchObject({ meta: { pagination: { total: 1 } } });
});

it("so are those of Algolia's protocol, of all queries together", async () => {
  const ask = (queries: number, attributes: readonly string[]) => {
    const query = {
      ...{ indexName: 'reviews', query: 'a', attributesToRetrieve: ['key'] },
      ...{ attributesToHighlight: attributes, highlightPreTag: TAG, highlightPostTag: '' },
    };
    return fetch(`${server.url}/1/indexes/*/queries`, {
      method: 'POST',
      headers: { 'x-algolia-application-id': 'x', 'x-algolia-api-key': 'public' },
      body: JSON.stringify({ requests: Array.from({ length: queries }, () => query) }),
    });
  };
  expect((await ask(2, ['key'])).status).toBe(200);
  const refused = await ask(2, ['text']);
  expect([refused.status, await refused.json()]).toEqual([
    400,
    { message: expect.stringMatching(/^The answer would have more than 67108864 letters/), status: 400 },
  ]);
});
