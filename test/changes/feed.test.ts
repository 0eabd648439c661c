import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ask, createAsk, createTokenOver } from '../support/access-client.ts';
import { createFollowedRows, readFeed } from '../support/feed-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';

let server: RunningServer;
let ask: Ask;
let anonymous: Ask;
/** A caller that may find tags and articles, but no drafts. */
let site: Ask;

const TAG = 'api::tag.tag';
const ARTICLE = 'api::article.article';

beforeAll(async () => {
  server = await startServer();
  const full = await createTokenOver(createAsk(server.url), { name: 'all', type: 'full-access' });
  ask = createAsk(server.url, full);
  const allow = ['tag.find', 'article.find'];
  site = createAsk(server.url, await createTokenOver(ask, { name: 'site', type: 'custom', allow }));
  anonymous = createAsk(server.url);
});
afterAll(() => server?.dispose());

async function write(method: string, path: string, data?: unknown): Promise<string> {
  const { status, body } = await ask(path, { method, ...(data === undefined ? {} : { body: { data } }) });
  expect(status, `${method} ${path} ${JSON.stringify(body)}`).toBeLessThan(300);
  return body?.data?.documentId;
}

const createTag = (key: string) => write('POST', '/api/tags', { key, name: key });
const latest = async (query = '', as = ask) => (await readFeed(as, query)).next;
/** Returns the items without the values that differ in each run. */
const brief = (items: readonly object[]) =>
  items.map((item) => {
    const { position: _position, at: _at, ...rest } = item as { position: string; at: string };
    return rest;
  });

describe('a first sync', () => {
  it('lists every row in pages, and then continues with changes', async () => {
    const ids = [await createTag('a1'), await createTag('a2'), await createTag('a3')];
    const { items, next, pages } = await readFeed(ask, 'types=tags&limit=2');
    expect(pages).toBe(2);
    expect(items.map(({ documentId }) => documentId)).toEqual(ids);
    expect(new Set(items.map(({ event, status }) => `${event} ${status}`))).toEqual(
      new Set(['create published']),
    );
    expect((await readFeed(ask, 'types=tags&limit=2', next)).items).toEqual([]);
    await write('DELETE', `/api/tags/${ids[1]}`);
    const after = await readFeed(ask, 'types=tags&limit=2', next);
    expect(brief(after.items)).toEqual([
      { type: TAG, documentId: ids[1], status: 'published', event: 'delete', locales: [] },
    ]);
    expect((await readFeed(ask, 'types=tags')).items).toHaveLength(2);
  });

  it('includes every change that happens while it lists', async () => {
    const first = await ask('/api/_changes?types=tags&limit=1');
    const added = await createTag('during');
    await write('DELETE', `/api/tags/${first.body.data[0].documentId}`);
    const rest = await readFeed(ask, 'types=tags&limit=1', first.body.meta.next);
    const seen = rest.items.map(({ event, documentId }) => `${event} ${documentId}`);
    expect(seen).toContain(`create ${added}`);
    expect(seen).toContain(`delete ${first.body.data[0].documentId}`);
  });
});

describe('changes', () => {
  it('are listed with their attributes, in the version that shows them', async () => {
    const query = 'types=articles&status=draft,published';
    const since = await latest(query);
    const sincePublished = await latest('types=articles');
    const id = await write('POST', '/api/articles?status=draft', { key: 'n1', title: 'a', code: 'c' });
    await write('PUT', `/api/articles/${id}?status=draft`, { title: 'b' });
    await write('POST', `/api/articles/${id}/actions/publish`);
    await write('PUT', `/api/articles/${id}?status=draft`, { summary: 's', title: 'c' });
    await write('POST', `/api/articles/${id}/actions/publish`);
    await write('PUT', `/api/articles/${id}?status=draft`, { mood: 'odd' });
    await write('POST', `/api/articles/${id}/actions/discard-draft`);
    await write('POST', `/api/articles/${id}/actions/unpublish`);
    await write('DELETE', `/api/articles/${id}`);
    const { items } = await readFeed(ask, query, since);
    const common = { type: ARTICLE, documentId: id, locales: ['en'] };
    expect(brief(items)).toEqual([
      { ...common, status: 'draft', event: 'create' },
      { ...common, status: 'draft', event: 'update', changed: ['title'] },
      { ...common, status: 'published', event: 'create' },
      { ...common, status: 'draft', event: 'update', changed: ['summary', 'title'] },
      { ...common, status: 'published', event: 'update', changed: ['summary', 'title'] },
      { ...common, status: 'draft', event: 'update', changed: ['mood'] },
      { ...common, status: 'draft', event: 'update', changed: ['mood'] },
      { ...common, status: 'published', event: 'delete' },
      { ...common, status: 'draft', event: 'delete' },
    ]);
    const positions = items.map(({ position }) => BigInt(position));
    expect(positions).toEqual(positions.toSorted((a, b) => Number(a - b)));
    const published = await readFeed(ask, 'types=articles', sincePublished);
    expect(brief(published.items)).toEqual(brief(items.filter(({ status }) => status === 'published')));
  });

  it('of a never published draft are not visible to readers without drafts', async () => {
    const since = await latest('', site);
    const id = await write('POST', '/api/articles?status=draft', { key: 'n2', title: 'a' });
    await write('PUT', `/api/articles/${id}?status=draft`, { title: 'b' });
    await write('DELETE', `/api/articles/${id}`);
    expect((await readFeed(site, '', since)).items).toEqual([]);
    for (const status of ['draft', 'nonsense']) {
      const answer = await site(`/api/_changes?status=${status}`);
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).not.toContain('"draft","published"');
    }
  });

  it('are those of the requested locales', async () => {
    const query = 'types=articles&status=draft&locales=it';
    const since = await latest(query);
    const id = await write('POST', '/api/articles?status=draft', { key: 'n3', title: 'a' });
    await write('PUT', `/api/articles/${id}?status=draft&locale=it`, { title: 'i' });
    await write('PUT', `/api/articles/${id}?status=draft`, { title: 'only en' });
    await write('PUT', `/api/articles/${id}?status=draft`, { code: 'for all' });
    await write('DELETE', `/api/articles/${id}?locale=it`);
    const { items } = await readFeed(ask, query, since);
    expect(items.map(({ event, locales, changed }) => [event, locales, changed])).toEqual([
      ['create', ['it'], undefined],
      ['update', ['it'], ['code']],
      ['delete', ['it'], undefined],
    ]);
  });

  it('name the documents that show a changed one, and the cause', async () => {
    const tag = await createTag('shown');
    const query = 'types=restaurants&related=true&status=draft';
    const restaurant = await write('POST', '/api/restaurants?status=draft', {
      key: 'rel',
      name: 'r',
      tags: [tag],
    });
    const since = await latest(query);
    await write('PUT', `/api/tags/${tag}`, { name: 'renamed' });
    const { items } = await readFeed(ask, query, since);
    expect(brief(items)).toEqual([
      {
        ...{ type: 'api::restaurant.restaurant', documentId: restaurant, status: 'draft', event: 'related' },
        ...{ locales: [], cause: { type: TAG, documentId: tag } },
      },
    ]);
  });
});

describe('what a caller may not see', () => {
  it('is refused like a type that does not exist', async () => {
    const answers = await Promise.all(
      ['api::restaurant.restaurant', 'plugin::users-permissions.user', 'api::nothing.nothing'].map((type) =>
        site(`/api/_changes?types=${type}`),
      ),
    );
    const texts = answers.map(({ status, body }, at) => {
      const name = ['api::restaurant.restaurant', 'plugin::users-permissions.user', 'api::nothing.nothing'][
        at
      ];
      return `${status} ${JSON.stringify(body).replaceAll(String(name), 'NAME')}`;
    });
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toMatch(/^400 .*invalid-query|^400/);
    expect((await anonymous('/api/_changes')).status).toBe(403);
  });

  it('is in no item', async () => {
    const since = await latest('', site);
    await write('POST', '/api/restaurants', { key: 'hidden', name: 'hidden' });
    const tag = await createTag('seen');
    expect((await readFeed(site, '', since)).items.map(({ documentId }) => documentId)).toEqual([tag]);
  });
});

it.each(['locales=*', 'locales=en,no%20locale', `locales=${'a'.repeat(40)}`])('refuses %s', async (query) => {
  const { status, body } = await ask(`/api/_changes?${query}`);
  expect([status, body.error.details.param]).toEqual([400, 'locales']);
});

it('lists some of very many problems, and counts the others', async () => {
  const names = Array.from({ length: 2_000 }, (_, n) => n.toString(36));
  const { status, body } = await ask(`/api/_changes?types=${names}`);
  expect([status, body.error.details.problems.length, body.error.details.moreProblems]).toEqual([
    400, 100, 1_900,
  ]);
});

describe('a sync token', () => {
  it.each(['x', '12', '99.abc', 'a.b.c'])('%s is refused', async (since) => {
    const { status, body } = await ask(`/api/_changes?since=${since}`);
    expect([status, body.error.code]).toEqual([400, 'invalid-sync-token']);
  });

  it('is not valid with other parameters, other rights, or a position beyond the log', async () => {
    const since = await latest('types=tags');
    const flipped = since.replace(/^\d+/, '999999');
    const asked: readonly (readonly [Ask, string])[] = [
      [ask, `types=articles&since=${since}`],
      [ask, `types=tags&related=true&since=${since}`],
      [site, `types=tags&since=${since}`],
      [ask, `types=tags&since=${flipped}`],
    ];
    for (const [as, query] of asked) {
      const { status, body } = await as(`/api/_changes?${query}`);
      expect([status, body.error.code]).toEqual([410, 'sync-token-gone']);
      expect(body.error.message).toContain("Begin again without 'since'");
    }
    // A page may have another size.
    expect((await ask(`/api/_changes?types=tags&limit=7&since=${since}`)).status).toBe(200);
  });

  it('is valid after a restart', async () => {
    const token = await createTokenOver(ask, { name: 'restart', type: 'full-access' });
    const since = await latest('types=tags');
    const id = await createTag('before the restart');
    await server.stop('SIGKILL');
    server = await startServer({ data: server.data });
    ask = createAsk(server.url, token);
    const { items } = await readFeed(ask, 'types=tags', since);
    expect(items.map(({ documentId }) => documentId)).toEqual([id]);
  });
});

it.each(['limit=0', 'limit=1001', 'limit=a', 'related=1', 'nonsense=1', 'types=', 'locales=', 'since[a]=1'])(
  'refuses %s',
  async (query) => {
    expect((await ask(`/api/_changes?${query}`)).status).toBe(400);
  },
);

it('follows random writes row by row, from any token', async () => {
  const query = 'types=articles,tags&status=draft,published';
  const followed = createFollowedRows();
  const whole = await readFeed(ask, query);
  followed.apply(whole.items);
  let since = whole.next;
  let seed = Number(process.env['VARVE_FEED_SEED'] ?? 7);
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const ids: string[] = [];
  const paths = ['', '?status=draft', '?status=draft&locale=it', '?locale=it'];
  for (let step = 0; step < Number(process.env['VARVE_FEED_WRITES'] ?? 80); step++) {
    const id = ids[random(ids.length || 1)];
    const path = `/api/articles/${id}`;
    const locale = paths[random(paths.length)];
    const kind = id === undefined ? 0 : random(9);
    if (kind <= 1) ids.push(await write('POST', `/api/articles${locale}`, { key: `k${step}`, title: 't' }));
    else if (kind <= 4)
      await ask(`${path}${locale}`, {
        method: 'PUT',
        body: { data: random(2) === 0 ? { title: `t${step}` } : { code: `c${step}` } },
      });
    else if (kind === 5) await ask(path + ['', '?locale=it', '?locale=*'][random(3)], { method: 'DELETE' });
    else
      await ask(
        `${path}/actions/${['publish', 'unpublish', 'discard-draft'][kind - 6]}${random(2) === 0 ? '' : '?locale=it'}`,
        { method: 'POST' },
      );
    if (random(3) !== 0) continue;
    const { items, next } = await readFeed(ask, `${query}&limit=${1 + random(5)}`, since);
    followed.apply(items);
    since = next;
  }
  followed.apply((await readFeed(ask, query, since)).items);
  const again = createFollowedRows();
  again.apply((await readFeed(ask, query)).items);
  expect(followed.rows).toEqual(again.rows);
});
