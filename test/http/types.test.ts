import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.dispose());

type Described = { readonly uid: string; readonly schema: { readonly attributes: Record<string, object> } };

const get = async <Data = Described>(path: string) => {
  const answer = await fetch(`${server.url}/api/content-type-builder${path}`);
  const body = (await answer.json()) as { data: Data; error?: object };
  return { status: answer.status, ...body };
};

const RESTAURANT = 'api::restaurant.restaurant';

describe('/api/content-type-builder', () => {
  it('lists every content type, users and files included', async () => {
    const { data } = await get<Described[]>('/content-types');
    expect(data.map(({ uid }) => uid)).toEqual(
      expect.arrayContaining([RESTAURANT, 'plugin::users-permissions.user', 'plugin::upload.file']),
    );
    const users = data.find(({ uid }) => uid === 'plugin::users-permissions.user');
    expect(users).toMatchObject({ plugin: 'users-permissions', apiID: 'user' });
  });

  it('describes a type as its file does, without private attributes', async () => {
    const { data } = await get(`/content-types/${RESTAURANT}`);
    expect(data).toMatchObject({
      uid: RESTAURANT,
      apiID: 'restaurant',
      schema: {
        kind: 'collectionType',
        singularName: 'restaurant',
        pluralName: 'restaurants',
        draftAndPublish: true,
        attributes: {
          name: { type: 'string' },
          logo: { type: 'media', multiple: false, allowedTypes: ['images', 'files'] },
          chef: {
            type: 'relation',
            relation: 'manyToOne',
            target: 'api::chef.chef',
            targetAttribute: 'restaurants',
          },
          hours: { type: 'component', component: 'common.hours', repeatable: true },
          sections: { type: 'dynamiczone', components: ['blocks.hero', 'blocks.quote', 'blocks.teaser'] },
        },
      },
    });
    expect(data.schema.attributes).not.toHaveProperty('internalNote');
    expect(data.schema.attributes).not.toHaveProperty('secretPin');
  });

  it('says which attributes have a value for each locale', async () => {
    const { data } = await get('/content-types/api::article.article');
    expect(data).toMatchObject({ schema: { pluginOptions: { i18n: { localized: true } } } });
  });

  it('lists the components that types contain', async () => {
    const { data } = await get<Described[]>('/components');
    expect(data.map(({ uid }) => uid)).toEqual(expect.arrayContaining(['blocks.hero', 'common.geo']));
    expect((await get('/components/common.hours')).data).toMatchObject({
      category: 'common',
      apiId: 'hours',
      schema: { attributes: { day: { type: 'enumeration' } } },
    });
  });

  it('accepts only existing kinds', async () => {
    expect((await get<Described[]>('/content-types?kind=singleType')).data).toEqual([]);
    expect(await get('/content-types?kind=nope')).toMatchObject({ status: 400 });
  });

  it.each(['/content-types/api::nope.nope', '/components/no.pe', '/content-types/__proto__'])(
    'has no %s',
    async (path) => {
      expect(await get(path)).toMatchObject({ status: 404, error: { name: 'NotFoundError' } });
    },
  );

  it('changes nothing', async () => {
    const answer = await fetch(`${server.url}/api/content-type-builder/content-types`, { method: 'POST' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});
