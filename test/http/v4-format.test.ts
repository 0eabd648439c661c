import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.dispose());

async function call(method: string, path: string, data?: object): Promise<{ data: Entry }> {
  const answer = await fetch(server.url + path, {
    method,
    headers: { 'strapi-response-format': 'v4', 'content-type': 'application/json' },
    ...(data === undefined ? {} : { body: JSON.stringify({ data }) }),
  });
  const body = (await answer.json()) as { data: Entry };
  expect(answer.ok, JSON.stringify(body)).toBe(true);
  return body;
}

type Entry = {
  readonly id: number;
  readonly documentId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
};

it("answers reads and writes in Strapi 4's form, at every level", async () => {
  const { data: chef } = await call('POST', '/api/chefs', { key: 'c', name: 'Ana' });
  expect(chef.attributes).toMatchObject({ key: 'c', name: 'Ana' });
  const { data: tag } = await call('POST', '/api/tags', { key: 't', name: 'vegan' });
  const populate =
    'populate[chef]=true&populate[tags]=true&populate[category]=true&populate[hours]=true&populate[address]=true&populate[sections]=true';
  const { data: created } = await call('POST', `/api/restaurants?${populate}`, {
    key: 'r',
    chef: chef.documentId,
    tags: [tag.documentId],
    hours: [{ day: 'mon' }],
    address: { city: 'Porto' },
    sections: [{ __component: 'blocks.quote', author: 'Zoë' }],
  });
  const { id, documentId, attributes, ...others } = created;
  expect(others).toEqual({});
  expect(attributes).not.toHaveProperty('documentId');
  expect(attributes).toMatchObject({
    key: 'r',
    chef: { data: { documentId: chef.documentId, attributes: { name: 'Ana' } } },
    tags: { data: [{ documentId: tag.documentId, attributes: { name: 'vegan' } }] },
    category: { data: null },
    hours: [{ id: expect.any(Number), day: 'mon' }],
    address: { id: expect.any(Number), city: 'Porto' },
    sections: [{ __component: 'blocks.quote', id: expect.any(Number), author: 'Zoë' }],
  });
  expect((await call('GET', `/api/restaurants/${documentId}?${populate}`)).data).toEqual(created);
  expect(await call('GET', `/api/restaurants?${populate}`)).toMatchObject({
    data: [created],
    meta: { pagination: { total: 1 } },
  });
  expect(id).toBeGreaterThan(0);
});

it('handles counts, sparse fields and nested populations', async () => {
  const query = 'fields=key&populate[restaurants][count]=true';
  const { data } = (await call('GET', `/api/chefs?${query}`)) as unknown as { data: readonly Entry[] };
  expect(data.map(({ attributes }) => attributes)).toEqual([
    // Strapi's transformation treats the count like an entry.
    { key: 'c', restaurants: { data: { attributes: { count: 1 } } } },
  ]);
  const nested =
    'fields=key&populate[restaurants][fields]=key&populate[restaurants][populate][tags][fields]=name';
  const { data: chefs } = (await call('GET', `/api/chefs?${nested}`)) as unknown as {
    data: readonly Entry[];
  };
  expect(chefs[0]?.attributes).toMatchObject({
    restaurants: {
      data: [{ attributes: { key: 'r', tags: { data: [{ attributes: { name: 'vegan' } }] } } }],
    },
  });
});
