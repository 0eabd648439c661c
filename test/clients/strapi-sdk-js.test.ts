import sdkModule from 'strapi-sdk-js';
import { beforeAll, expect, it } from 'vitest';
import { clientServer } from './client-server.ts';

/** The community's SDK from npm. It keeps tokens in cookies or local storage, so it sends none without a browser. */
const server = clientServer();
// The SDK's types describe the CommonJS build, where the class is one level deeper.
const Strapi = sdkModule as unknown as typeof sdkModule.default;

type Data = { readonly documentId: string; readonly title: string };

let sdk: InstanceType<typeof Strapi>;
beforeAll(() => {
  sdk = new Strapi({ url: server.url });
});

it('creates, finds, updates and deletes', async () => {
  const { data: category } = await sdk.create<Data>('categories', { name: 'SDK' });
  const { data } = await sdk.create<Data>('articles', { title: 'One', category: category.documentId });
  const found = await sdk.find('articles', {
    filters: { category: { name: { $eq: 'SDK' } } },
    sort: ['title:asc'],
    populate: ['category'],
    pagination: { page: 1, pageSize: 10 },
    locale: 'en',
  });
  expect(found).toMatchObject({
    data: [{ documentId: data.documentId, category: { name: 'SDK' } }],
    meta: { pagination: { total: 1 } },
  });
  await sdk.update('articles', data.documentId, { title: 'Two' });
  expect((await sdk.findOne<Data>('articles', data.documentId, { fields: ['title'] })).data.title).toBe(
    'Two',
  );
  await sdk.delete('articles', data.documentId);
  await expect(sdk.findOne('articles', data.documentId)).rejects.toMatchObject({
    error: { status: 404, name: 'NotFoundError' },
  });
});
