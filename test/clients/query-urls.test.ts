import qs from 'qs';
import { beforeAll, describe, expect, it } from 'vitest';
import { clientServer } from './client-server.ts';

/** Exact URLs that other programs build. */
const server = clientServer();

type Described = {
  readonly data: readonly {
    readonly plugin?: string;
    readonly schema: { readonly kind: string; readonly singularName: string; readonly pluralName: string };
  }[];
};
type Article = { readonly documentId: string; readonly title: string };

const get = async (path: string) => {
  const answer = await fetch(`${server.api}${path}`);
  return { status: answer.status, body: (await answer.json()) as { data: Article[]; meta: object } };
};
const titles = async (path: string) => {
  const { status, body } = await get(path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.map(({ title }) => title);
};
const send = async (method: string, path: string, data: object) => {
  const answer = await fetch(`${server.api}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
  });
  expect(answer.ok).toBe(true);
  return ((await answer.json()) as { data: Article }).data;
};

beforeAll(async () => {
  const news = await send('POST', '/categories', { name: 'News' });
  for (const [title, rating] of [
    ['A & B', 1],
    ['100 % #1?', 2],
    ['Ünï çødé', 3],
  ] as const) {
    await send('POST', '/articles', { title, rating, category: news.documentId });
  }
  const { documentId } = await send('POST', '/articles?status=draft', { title: 'unpublished', rating: 9 });
  await send('PUT', `/articles/${documentId}?locale=fr`, { title: 'français' });
  await send('PUT', '/homepage', { heading: 'Home' });
});

describe('query strings of qs.stringify, as in the documentation of Strapi', () => {
  it.each([
    ['encodeValuesOnly', { encodeValuesOnly: true }],
    ['everything encoded', {}],
    ['nothing encoded but what has to be', { encode: false }],
    ['brackets for lists', { encodeValuesOnly: true, arrayFormat: 'brackets' }],
    ['repeated keys for lists', { encodeValuesOnly: true, arrayFormat: 'repeat' }],
    ['blanks as plus signs', { format: 'RFC1738' }],
  ] as const)('with %s', async (_, options) => {
    const query = qs.stringify(
      {
        filters: { rating: { $in: [1, 3] }, category: { name: { $eq: 'News' } } },
        sort: ['rating:desc', 'title'],
        fields: ['title', 'rating'],
        populate: { category: { fields: ['name'] } },
        pagination: { pageSize: 10, page: 1 },
        status: 'published',
        locale: 'en',
      },
      options,
    );
    expect(await titles(`/articles?${query}`)).toEqual(['Ünï çødé', 'A & B']);
  });

  it.each(['A & B', '100 % #1?', 'Ünï çødé'])('keeps %j unchanged', async (title) => {
    const query = qs.stringify({ filters: { title: { $eq: title } } }, { encodeValuesOnly: true });
    expect(await titles(`/articles?${query}`)).toEqual([title]);
  });
});

it('the form of URLSearchParams is read in the same way', async () => {
  const query = new URLSearchParams({ 'filters[title][$contains]': '& B', 'sort[0]': 'title' });
  expect(await titles(`/articles?${query}`)).toEqual(['A & B']);
});

/**
 * gatsby-source-strapi 5 only runs inside a Gatsby build: its peers are gatsby and three of its plugins. Therefore these are copies
 * of the requests that its fetch.js and helpers.js make.
 */
describe('the calls of gatsby-source-strapi', () => {
  const serialize = (params: object) => qs.stringify(params, { encodeValuesOnly: true });

  it('content types and components, for the paths and attributes that it reads', async () => {
    const [types, components] = await Promise.all(
      ['content-types', 'components'].map(
        async (name) =>
          (await fetch(`${server.api}/content-type-builder/${name}`)).json() as Promise<Described>,
      ),
    );
    expect(components?.data).toEqual([]);
    const paths = types?.data.map(({ plugin, schema: { kind, singularName, pluralName } }) => {
      const prefix = plugin !== undefined && singularName !== 'user' ? `${plugin}/` : '';
      return `/${prefix}${kind === 'singleType' ? singularName : pluralName}`;
    });
    expect(paths?.sort()).toEqual(['/articles', '/categories', '/homepage', '/upload/files', '/users']);
    for (const path of paths ?? []) expect((await get(path)).status).toBe(200);
  });

  it('every page of a collection, everything populated', async () => {
    const params = { pagination: { pageSize: 2, page: 1 }, populate: '*', sort: 'rating' };
    const first = await get(`/articles?${serialize(params)}`);
    expect(first.body.meta).toMatchObject({ pagination: { page: 1, pageCount: 2 } });
    expect(first.body.data[0]).toMatchObject({ category: { name: 'News' }, cover: null });
    const second = await get(`/articles?${serialize({ ...params, pagination: { pageSize: 2, page: 2 } })}`);
    expect(second.body.data).toHaveLength(1);
  });

  it('drafts in preview, one locale, and only changes since the last build', async () => {
    const pagination = { pageSize: 100, page: 1 };
    const drafts = { pagination, populate: '*', status: 'draft', filters: { rating: 9 } };
    expect(await titles(`/articles?${serialize(drafts)}`)).toEqual(['unpublished']);
    expect(await titles(`/articles?${serialize({ pagination, populate: '*', locale: 'fr' })}`)).toEqual([
      'français',
    ]);
    const since = (time: number) => ({ pagination, populate: '*', filters: { updatedAt: { $gt: time } } });
    expect(await titles(`/articles?${serialize(since(Date.now() + 60_000))}`)).toEqual([]);
    expect(await titles(`/articles?${serialize(since(1))}`)).toHaveLength(3);
  });

  it('a single type, and the file of a URL in a text', async () => {
    expect((await get('/homepage?populate=%2A')).body.data).toMatchObject({ heading: 'Home', featured: [] });
    const form = new FormData();
    form.append('files', new Blob(['in a text']), 'linked.txt');
    const uploaded = await fetch(`${server.api}/upload`, { method: 'POST', body: form });
    const [file] = (await uploaded.json()) as [{ url: string }];
    const filters = qs.stringify({ filters: { url: file.url } }, { encode: false });
    expect(await (await fetch(`${server.api}/upload/files?${filters}`)).json()).toEqual([file]);
  });
});
