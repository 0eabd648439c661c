import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { runVarve } from '../support/run-varve.ts';
import { type RunningServer, startServer } from '../support/server.ts';

let server: RunningServer;
let api: ApiClient;

beforeAll(async () => {
  server = await startServer();
  api = createApiClient(server.url);
});
afterAll(() => server?.dispose());

type Restaurant = {
  readonly documentId: string;
  readonly hours: readonly { readonly id: number }[];
  readonly sections: readonly { readonly id: number }[];
};

const POPULATED = 'populate[hours]=true&populate[sections][populate]=*';

it('updates a component that is sent twice twice, and keeps it once, in its first place', async () => {
  const dishes = await Promise.all(
    ['d1', 'd2'].map((title) =>
      api.data<{ documentId: string }>('POST', '/api/dishes', { data: { key: title, title } }),
    ),
  );
  const made = await api.data<Restaurant>('POST', `/api/restaurants?status=draft&${POPULATED}`, {
    data: {
      key: 'twice',
      hours: [{ day: 'mon', opens: '08:00:00' }, { day: 'tue' }, { day: 'wed' }],
      sections: [{ __component: 'blocks.teaser', label: 'A' }, { __component: 'blocks.quote' }],
    },
  });
  const { documentId, hours, sections } = made;
  const teaser = (label: string, dish: number) => ({
    ...{ __component: 'blocks.teaser', id: sections[0]?.id, label },
    dishes: [dishes[dish]?.documentId],
  });
  const data = {
    hours: [
      { id: hours[0]?.id, day: 'thu' },
      { id: hours[1]?.id, day: 'tue' },
      { id: hours[0]?.id, closes: '20:00:00' },
    ],
    sections: [teaser('first', 0), { __component: 'blocks.quote', id: sections[1]?.id }, teaser('second', 1)],
  };
  // Strapi 5.54 answers the same on SQLite.
  const shown = {
    hours: [
      { day: 'thu', opens: expect.stringMatching(/^08:00:00/), closes: expect.stringMatching(/^20:00:00/) },
      { day: 'tue', opens: null },
    ],
    sections: [{ label: 'second', dishes: [{ title: 'd2' }] }, { __component: 'blocks.quote' }],
  };
  const path = `/api/restaurants/${documentId}`;
  expect(await api.data('PUT', `${path}?status=published&${POPULATED}`, { data })).toMatchObject(shown);
  for (const status of ['draft', 'published']) {
    const read = await api.data<Restaurant>('GET', `${path}?status=${status}&${POPULATED}`);
    expect(read).toMatchObject(shown);
    expect([read.hours.length, read.sections.length]).toEqual([2, 2]);
  }
  const found = await api.data<Restaurant[]>('GET', '/api/restaurants?filters[hours][closes]=20:00:00');
  expect(found).toHaveLength(1);
  const { code, stdout, stderr } = await runVarve(['verify', '--data', server.data]);
  expect(code, stdout + stderr).toBe(0);
});
