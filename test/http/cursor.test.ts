import { expect, it, onTestFinished } from 'vitest';
import { startServer } from '../support/server.ts';

type List = {
  readonly data: readonly { readonly key: string }[];
  readonly meta: {
    readonly pagination: {
      readonly pageSize: number;
      readonly total: number;
      readonly nextCursor: string | null;
    };
    readonly explain?: { readonly filters: object; readonly query: object; readonly engine: object };
  };
};

async function startWithRestaurants(count: number) {
  const server = await startServer();
  onTestFinished(() => server.dispose());
  for (let i = 0; i < count; i++) {
    const data = { key: `r${i}`, name: `n${i % 3}`, stars: i };
    const answer = await fetch(`${server.url}/api/restaurants`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data }),
    });
    expect(answer.status).toBe(201);
  }
  return server;
}

it('pages through a list, also across a restart, and supports explain', async () => {
  const first = await startWithRestaurants(7);
  let url = first.url;
  const list = async (cursor: string, more = ''): Promise<List> => {
    const query = `sort=name:desc&pagination[pageSize]=3&pagination[cursor]=${cursor}${more}`;
    const answer = await fetch(`${url}/api/restaurants?${query}`);
    expect(answer.status).toBe(200);
    return (await answer.json()) as List;
  };
  const one = await list('');
  expect(one.meta.pagination).toMatchObject({ pageSize: 3, total: 7 });
  await first.stop();
  const second = await startServer({ data: first.data });
  onTestFinished(() => second.dispose());
  url = second.url;
  const two = await list(String(one.meta.pagination.nextCursor));
  const three = await list(String(two.meta.pagination.nextCursor));
  expect(three.meta.pagination.nextCursor).toBeNull();
  const keys = [one, two, three].flatMap(({ data }) => data.map(({ key }) => key));
  expect(keys).toEqual(['r2', 'r5', 'r1', 'r4', 'r0', 'r3', 'r6']);

  const explained = await list('', '&filters[stars]=1&explain=true');
  expect(explained.meta.explain).toMatchObject({
    filters: { kind: 'and' },
    query: { kind: 'term', field: 'stars', value: 1 },
    engine: { engine: 'embedded' },
  });
  const tampered = await fetch(
    `${url}/api/restaurants?pagination[cursor]=${one.meta.pagination.nextCursor}x`,
  );
  expect(tampered.status).toBe(400);
});
