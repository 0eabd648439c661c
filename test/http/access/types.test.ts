import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ask, createAsk, createTokenOver } from '../../support/access-client.ts';
import { type RunningServer, startServer } from '../../support/server.ts';

/** `/api/content-type-builder` omits types without the right `find`, also as targets of relations. */
const PATH = '/api/content-type-builder';
const CALLERS = {
  anonymous: undefined,
  creator: ['tag.create', 'restaurant.update'],
  diner: ['restaurant.find'],
  cook: ['restaurant.find', 'dish.findOne', 'dish.find', 'country.find', 'file.find'],
} as const;
type Caller = keyof typeof CALLERS;

/** Content types that each caller may see: those that it may `find`. */
const SEEN: Readonly<Record<Caller, readonly string[]>> = {
  anonymous: [],
  creator: [],
  diner: ['api::restaurant.restaurant'],
  cook: ['api::country.country', 'api::dish.dish', 'api::restaurant.restaurant', 'plugin::upload.file'],
};

type Described = {
  readonly uid: string;
  readonly schema: { readonly attributes: Readonly<Record<string, { readonly target?: string }>> };
};

let server: RunningServer;
let all: readonly string[];
let full: Ask;
const asks = {} as Record<Caller, Ask>;

beforeAll(async () => {
  server = await startServer();
  const secret = await createTokenOver(createAsk(server.url), { name: 'all', type: 'full-access' });
  full = createAsk(server.url, secret);
  for (const [name, allow] of Object.entries(CALLERS)) {
    const token = allow && (await createTokenOver(full, { name, type: 'custom', allow }));
    asks[name as Caller] = createAsk(server.url, token);
  }
  all = (await list(full, 'content-types')).map(({ uid }) => uid);
});
afterAll(() => server?.dispose());

async function list(ask: Ask, what: 'content-types' | 'components'): Promise<readonly Described[]> {
  const { status, body } = await ask(`${PATH}/${what}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
}

describe.each(Object.keys(CALLERS) as Caller[])('%s', (caller) => {
  test('sees only the types that it may find', async () => {
    const types = await list(asks[caller], 'content-types');
    expect(types.map(({ uid }) => uid).toSorted()).toEqual(SEEN[caller]);
    expect(all.length).toBeGreaterThan(types.length);
  });

  test('sees no name of another type anywhere', async () => {
    const shown = JSON.stringify([
      await list(asks[caller], 'content-types'),
      await list(asks[caller], 'components'),
    ]);
    for (const uid of all) expect(shown.includes(`"${uid}"`), uid).toBe(SEEN[caller].includes(uid));
  });

  test('gets the same answer for a forbidden type as for a type that does not exist', async () => {
    const unknown = await asks[caller](`${PATH}/content-types/api::nope.nope`);
    expect(unknown.status).toBe(404);
    for (const uid of all) {
      const { status, body } = await asks[caller](`${PATH}/content-types/${uid}`);
      if (SEEN[caller].includes(uid)) expect([status, body.data.uid]).toEqual([200, uid]);
      else expect({ status, body }).toEqual({ status: 404, body: unknown.body });
    }
  });

  test('sees only the components of those types', async () => {
    const listed = (await list(asks[caller], 'components')).map(({ uid }) => uid);
    const unknown = await asks[caller](`${PATH}/components/no.pe`);
    for (const { uid } of await list(full, 'components')) {
      const { status, body } = await asks[caller](`${PATH}/components/${uid}`);
      if (listed.includes(uid)) expect(status).toBe(200);
      else expect({ status, body }).toEqual({ status: 404, body: unknown.body });
    }
    if (SEEN[caller].length === 0) expect(listed).toEqual([]);
  });
});

test('a relation is shown if its target is, also in components', async () => {
  const shownBy = async (caller: Caller) => {
    const { data } = (await asks[caller](`${PATH}/content-types/api::restaurant.restaurant`)).body;
    const address = (await asks[caller](`${PATH}/components/common.address`)).body.data;
    const teaser = (await asks[caller](`${PATH}/components/blocks.teaser`)).body.data;
    const names = (of: Described) => Object.keys(of.schema.attributes);
    return { restaurant: names(data), address: names(address), teaser: names(teaser) };
  };
  const [diner, cook] = [await shownBy('diner'), await shownBy('cook')];
  expect(diner.restaurant).toEqual(expect.arrayContaining(['name', 'similar', 'sections']));
  for (const hidden of ['chef', 'homeCountry', 'logo']) expect(diner.restaurant).not.toContain(hidden);
  expect([diner.address.includes('country'), diner.teaser]).toEqual([false, ['label']]);
  expect(cook.restaurant).toEqual(expect.arrayContaining(['homeCountry', 'logo', 'gallery']));
  expect(cook.restaurant).not.toContain('chef');
  expect([cook.address.includes('country'), cook.teaser]).toEqual([true, ['label', 'dishes']]);
  expect((await asks.diner(`${PATH}/components/common.ingredient`)).status).toBe(404);
  expect((await asks.cook(`${PATH}/components/common.ingredient`)).status).toBe(200);
});

test('an unknown token is refused', async () => {
  expect((await createAsk(server.url, 'nope')(`${PATH}/content-types`)).status).toBe(401);
});
