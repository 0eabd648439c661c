import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FeedItem } from '../../services/changes/feed-item.ts';
import { type Ask, createAsk, createTokenOver } from '../support/access-client.ts';
import { readFeed } from '../support/feed-client.ts';
import { writePageTypes } from '../support/page-types.ts';
import { type RunningServer, startServer } from '../support/server.ts';

let server: RunningServer;
let ask: Ask;
/** A caller that may find pages and topics, including drafts, but no authors. */
let reader: Ask;
const contentTypes = writePageTypes();

beforeAll(async () => {
  server = await startServer({ contentTypes });
  ask = createAsk(
    server.url,
    await createTokenOver(createAsk(server.url), { name: 'all', type: 'full-access' }),
  );
  const allow = ['page.find', 'page.findOne', 'topic.find'];
  const custom = { name: 'reader', type: 'custom', allow, drafts: true } as const;
  reader = createAsk(server.url, await createTokenOver(ask, custom));
});
afterAll(async () => {
  await server?.dispose();
  rmSync(contentTypes, { recursive: true, force: true });
});

async function write(method: string, path: string, data?: unknown): Promise<string> {
  const { status, body } = await ask(path, { method, ...(data === undefined ? {} : { body: { data } }) });
  expect(status, `${method} ${path} ${JSON.stringify(body)}`).toBeLessThan(300);
  return body?.data?.documentId;
}

const QUERY = 'types=pages&status=draft,published';
const brief = (items: readonly FeedItem[]) =>
  items.map(({ status, event, changed }) => `${status} ${event} ${changed ?? ''}`.trim());

/** Writes, and returns the new items of the reader's feed. */
async function itemsAfter(run: () => Promise<unknown>, query = QUERY): Promise<readonly FeedItem[]> {
  const { next } = await readFeed(reader, query);
  await run();
  return (await readFeed(reader, query, next)).items;
}

async function createPage() {
  const author = await write('POST', '/api/authors', { name: 'a' });
  const seo = { text: 't', hidden: 'h', author, inner: { shown: 's', hidden: 'h' } };
  const id = await write('POST', '/api/pages', {
    title: 't',
    secret: 's',
    seo,
    vault: { hidden: 'h' },
    list: [seo, { text: 'u' }],
    zone: [
      { __component: 'meta.seo', ...seo },
      { __component: 'meta.vault', hidden: 'h' },
    ],
  });
  const path = `/api/pages/${id}`;
  const put = (data: unknown, query = '') => itemsAfter(() => write('PUT', `${path}${query}`, data));
  return { id, path, seo, author, put };
}

describe('an edit of private attributes alone', () => {
  it('makes no item, published or not', async () => {
    const { path, put } = await createPage();
    expect(brief(await put({ secret: 'new' }))).toEqual([]);
    expect(brief(await put({ secret: 'draft' }, '?status=draft'))).toEqual([]);
    expect(brief(await itemsAfter(() => write('POST', `${path}/actions/discard-draft`)))).toEqual([]);
    expect(brief(await put({ secret: 'other', title: 'new' }))).toEqual([
      'draft update title',
      'published update title',
    ]);
    // An edit without values gives the same result, so the feed does not reveal the change of a private value.
    expect(brief(await put({}, '?status=draft'))).toEqual([]);
  });

  it('makes no item inside components and dynamic zones', async () => {
    const { put, seo } = await createPage();
    expect(brief(await put({ seo: { ...seo, hidden: 'new' } }))).toEqual([]);
    expect(brief(await put({ seo: { ...seo, inner: { shown: 's', hidden: 'new' } } }))).toEqual([]);
    expect(brief(await put({ vault: { hidden: 'new', inner: { shown: 'new' } } }))).toEqual([]);
    expect(brief(await put({ list: [{ ...seo, hidden: 'x' }, { text: 'u' }] }))).toEqual([]);
    const zone = [
      { __component: 'meta.seo', ...seo },
      { __component: 'meta.vault', hidden: 'new' },
    ];
    expect(brief(await put({ zone }))).toEqual([]);
  });

  it('causes no related item', async () => {
    const topic = await write('POST', '/api/topics', { name: 't' });
    const { path, put } = await createPage();
    await put({ topics: [topic] });
    const query = 'types=topics&related=true';
    expect(await itemsAfter(() => write('PUT', path, { secret: 'new' }), query)).toEqual([]);
    const [related] = await itemsAfter(() => write('PUT', path, { title: 'new' }), query);
    expect(related).toMatchObject({ event: 'related', documentId: topic });
  });
});

describe('names of an update', () => {
  it('are those of attributes that the caller may see', async () => {
    const { put, seo } = await createPage();
    const other = await write('POST', '/api/authors', { name: 'b' });
    expect(brief(await put({ seo: { ...seo, author: other } }))).toEqual([]);
    expect(brief(await put({ author: other }))).toEqual([]);
    const whole = await readFeed(ask, QUERY);
    await write('PUT', `/api/pages/${(await createPage()).id}`, { author: other });
    const items = brief((await readFeed(ask, QUERY, whole.next)).items);
    expect(items.slice(-2)).toEqual(['draft update author', 'published update author']);
    expect(brief(await put({ vault: null, secret: 'x' }))).toEqual([
      'draft update vault',
      'published update vault',
    ]);
    expect(brief(await put({ list: [{ text: 'u' }] }))).toEqual([
      'draft update list',
      'published update list',
    ]);
    expect(brief(await put({ zone: [{ __component: 'meta.vault', hidden: 'h' }] }))).toEqual([
      'draft update zone',
      'published update zone',
    ]);
  });

  it('of a publication are the names of edits since the last publication', async () => {
    const { path, put, seo } = await createPage();
    expect(brief(await put({ seo: { ...seo, hidden: 'x' } }, '?status=draft'))).toEqual([]);
    expect(brief(await put({ seo: { ...seo, text: 'x' } }, '?status=draft'))).toEqual(['draft update seo']);
    const published = await itemsAfter(() => write('POST', `${path}/actions/publish`));
    expect(brief(published)).toEqual(['published update seo']);
  });
});

it('a publication that makes links of the other side visible is an item', async () => {
  const { id, path, put } = await createPage();
  await itemsAfter(() => write('POST', '/api/topics', { name: 't', pages: [id] }));
  await put({ secret: 'draft' }, '?status=draft');
  const published = await itemsAfter(() => write('POST', `${path}/actions/publish`));
  expect(brief(published)).toEqual(['published update']);
});

/** Returns the content of a page that a reader sees, without times and ids of components. */
async function shown(path: string, status: string): Promise<string> {
  const populate =
    'populate[seo][populate]=*&populate[list][populate]=*&populate[zone][populate]=*&populate[vault]=true';
  const { status: answered, body } = await reader(`${path}?status=${status}&${populate}`);
  expect(answered, JSON.stringify(body)).toBe(200);
  return JSON.stringify(body.data, (name, value) =>
    ['updatedAt', 'publishedAt', 'createdAt', 'id'].includes(name) ? undefined : value,
  );
}

it('a random edit is an item of the draft if and only if its answer changes', async () => {
  const { path, seo } = await createPage();
  let seed = Number(process.env['VARVE_FEED_SEED'] ?? 11);
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const text = () => `v${random(2)}`;
  const block = () => ({
    ...seo,
    ...(random(2) === 0 ? { hidden: text() } : { text: text() }),
    inner: { shown: text(), hidden: text() },
  });
  const edits: readonly (() => object)[] = [
    () => ({ secret: text() }),
    () => ({ title: text() }),
    () => ({ seo: random(4) === 0 ? null : block() }),
    () => ({ vault: random(4) === 0 ? null : { hidden: text(), inner: { shown: text() } } }),
    () => ({ list: Array.from({ length: random(3) }, block) }),
    () => ({
      zone: Array.from({ length: random(3) }, () =>
        random(2) === 0
          ? { __component: 'meta.seo', ...block() }
          : { __component: 'meta.vault', hidden: text() },
      ),
    }),
  ];
  let silent = 0;
  for (let step = 0; step < Number(process.env['VARVE_PRIVATE_EDITS'] ?? 60); step++) {
    const before = await shown(path, 'draft');
    const data = edits[random(edits.length)]?.();
    const items = await itemsAfter(() => write('PUT', `${path}?status=draft`, data));
    const isChanged = (await shown(path, 'draft')) !== before;
    expect(items.length, JSON.stringify([data, items])).toBe(isChanged ? 1 : 0);
    if (!isChanged) silent++;
    expect(JSON.stringify(items)).not.toMatch(/secret|hidden|meta\./);
  }
  expect(silent).toBeGreaterThan(5);
});
