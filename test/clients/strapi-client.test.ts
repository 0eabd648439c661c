import { HTTPBadRequestError, HTTPNotFoundError, type StrapiClient, strapi } from '@strapi/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { png } from '../support/upload-client.ts';
import { clientServer } from './client-server.ts';

/** Strapi's own client from npm. */
const server = clientServer();
let client: StrapiClient;
beforeAll(async () => {
  client = strapi({ baseURL: server.api });
});

describe('collection()', () => {
  it('creates, reads, updates and deletes', async () => {
    const articles = client.collection('articles');
    const created = await articles.create({ title: 'One', rating: 3 });
    expect(created.data).toMatchObject({ title: 'One', rating: 3, locale: 'en' });
    const { documentId } = created.data;
    expect((await articles.findOne(documentId)).data).toEqual(created.data);
    const updated = await articles.update(documentId, { title: 'Two' });
    expect(updated.data).toMatchObject({ documentId, title: 'Two', rating: 3 });
    await articles.delete(documentId);
    await expect(articles.findOne(documentId)).rejects.toThrow(HTTPNotFoundError);
  });

  it('finds with filters, sort, fields, populate and pagination', async () => {
    const categories = client.collection('categories');
    const articles = client.collection('articles');
    const { data: news } = await categories.create({ name: 'News' });
    for (const [title, rating] of [
      ['a', 1],
      ['b', 5],
      ['c', 4],
      ['d', 3],
    ] as const) {
      await articles.create({ title, rating, category: title === 'd' ? null : news.documentId });
    }
    const found = await articles.find({
      filters: { rating: { $gte: 1 }, category: { name: { $eqi: 'news' } } },
      sort: ['rating:desc', 'title'],
      fields: ['title', 'rating'],
      populate: {
        category: { fields: ['name'], populate: { articles: { filters: { rating: { $gt: 4 } } } } },
      },
      pagination: { page: 1, pageSize: 2 },
    });
    expect(found.meta.pagination).toEqual({ page: 1, pageSize: 2, pageCount: 2, total: 3 });
    expect(found.data).toEqual([
      expect.objectContaining({ title: 'b', rating: 5 }),
      expect.objectContaining({ title: 'c', rating: 4 }),
    ]);
    expect(found.data[0]).not.toHaveProperty('createdAt');
    expect(found.data[0]?.['category']).toMatchObject({ name: 'News', articles: [{ title: 'b' }] });
    const rest = await articles.find({
      filters: { $or: [{ title: { $in: ['a', 'b'] } }, { category: { $null: true } }] },
      sort: 'title',
      populate: '*',
      pagination: { start: 1, limit: 5 },
    });
    expect(rest.data.map((article) => article['title'])).toEqual(['b', 'd']);
    expect(rest.meta.pagination).toEqual({ start: 1, limit: 5, total: 3 });
  });

  it('knows drafts and locales', async () => {
    const articles = client.collection('articles');
    const { data } = await articles.create({ title: 'Draft' }, { status: 'draft' });
    expect(data.publishedAt).toBeNull();
    await expect(articles.findOne(data.documentId)).rejects.toThrow(HTTPNotFoundError);
    expect((await articles.findOne(data.documentId, { status: 'draft' })).data['title']).toBe('Draft');
    await articles.update(data.documentId, { title: 'Entwurf' }, { locale: 'de' });
    const german = await articles.find({
      locale: 'de',
      filters: { documentId: data.documentId },
      populate: 'localizations',
    });
    expect(german.data).toMatchObject([{ title: 'Entwurf', locale: 'de' }]);
    await articles.delete(data.documentId, { locale: 'de' });
    expect((await articles.find({ locale: 'de' })).data).toEqual([]);
    expect((await articles.findOne(data.documentId, { status: 'draft' })).data['title']).toBe('Draft');
  });

  it('reports refusals as its own errors, with the envelope', async () => {
    const articles = client.collection('articles');
    const refused = articles.find({ filters: { nope: 1 } });
    await expect(refused).rejects.toThrow(HTTPBadRequestError);
    const { response } = (await refused.catch((error: unknown) => error)) as HTTPBadRequestError;
    expect(await response.json()).toMatchObject({
      error: { name: 'ValidationError', message: 'Invalid key nope' },
    });
    await expect(articles.create({ rating: 1 })).rejects.toThrow(HTTPBadRequestError);
  });
});

describe('single()', () => {
  it('writes, reads and deletes the one document', async () => {
    const homepage = client.single('homepage');
    await expect(homepage.find()).rejects.toThrow(HTTPNotFoundError);
    const { data: article } = await client.collection('articles').create({ title: 'Featured' });
    await homepage.update({ heading: 'Hello', featured: [article.documentId] });
    const { data } = await homepage.find({ populate: 'featured' });
    expect(data).toMatchObject({ heading: 'Hello', featured: [{ title: 'Featured' }] });
    await homepage.update({ heading: 'Draft' }, { status: 'draft' });
    expect((await homepage.find()).data['heading']).toBe('Hello');
    expect((await homepage.find({ status: 'draft' })).data['heading']).toBe('Draft');
    await homepage.delete();
    await expect(homepage.find()).rejects.toThrow(HTTPNotFoundError);
  });
});

describe('collection("users")', () => {
  const enveloped = clientServer({ VARVE_USERS_ENVELOPE: 'true' });

  it('has bare answers, as in Strapi', async () => {
    const users = client.collection('users');
    const user = { username: 'bob', email: 'bob@example.com', password: 'correct horse', role: 1 };
    const created = (await users.create(user)) as unknown as { id: number };
    const found = await users.find({ filters: { email: 'bob@example.com' }, sort: 'username' });
    expect(found).toMatchObject([{ id: created.id, username: 'bob' }]);
    expect(await users.findOne(String(created.id))).toMatchObject({ username: 'bob' });
    const updated = await users.update(String(created.id), { username: 'bobby' });
    expect(updated).toMatchObject({ id: created.id, username: 'bobby' });
    await users.delete(String(created.id));
    expect(await users.find()).toEqual([]);
  });

  it('has data in its answers, but not in its bodies, with --users-envelope', async () => {
    const users = strapi({ baseURL: enveloped.api }).collection('users');
    const role = 1;
    const user = { username: 'ana', email: 'ana@example.com', password: 'correct horse', role } as const;
    const created = (await users.create(user)) as unknown as { data: { id: number; documentId: string } };
    expect(created.data).toMatchObject({ username: 'ana', email: 'ana@example.com' });
    expect(created.data).not.toHaveProperty('password');
    const found = await users.find({ filters: { username: 'ana' } });
    expect(found.data.map(({ documentId }) => documentId)).toEqual([created.data.documentId]);
  });
});

describe('files', () => {
  it('uploads, finds, changes and deletes', async () => {
    const uploaded = await client.files.upload(png(12, 8), {
      filename: 'cover.png',
      mimetype: 'image/png',
      fileInfo: { alternativeText: 'A cover' },
    });
    expect(uploaded).toMatchObject([{ name: 'cover.png', width: 12, alternativeText: 'A cover' }]);
    const [file] = uploaded;
    if (file === undefined) throw new Error('nothing was uploaded');
    expect(await client.files.findOne(file.id)).toEqual(file);
    const found = await client.files.find({ filters: { mime: { $startsWith: 'image/' } }, sort: 'name:asc' });
    expect(found).toEqual([file]);
    const { data: article } = await client
      .collection('articles')
      .create({ title: 'Covered', cover: file.id }, { populate: 'cover' });
    expect(article['cover']).toEqual(file);
    const changed = await client.files.update(file.id, { caption: 'New', name: 'renamed.png' });
    expect(changed).toMatchObject({
      id: file.id,
      caption: 'New',
      name: 'renamed.png',
      alternativeText: 'A cover',
    });
    expect(await client.files.delete(file.id)).toMatchObject({ id: file.id });
    await expect(client.files.findOne(file.id)).rejects.toThrow('not found');
  });

  it('uploads a Blob', async () => {
    const blob = new File(['hello'], 'hello.txt', { type: 'text/plain' });
    expect(await client.files.upload(blob)).toMatchObject([{ name: 'hello.txt', mime: 'text/plain' }]);
  });
});

it('fetch() reaches any path', async () => {
  const answer = await client.fetch('/articles?pagination[pageSize]=1');
  expect(answer.status).toBe(200);
});

it('requests the form of Strapi 4 with a header', async () => {
  const v4 = strapi({ baseURL: server.api, headers: { 'Strapi-Response-Format': 'v4' } });
  const { data } = await v4.collection('categories').create({ name: 'Old form' });
  expect(data).toMatchObject({ id: expect.any(Number), attributes: { name: 'Old form' } });
});
