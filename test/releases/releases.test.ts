import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import {
  ARTICLE,
  addRelease,
  draft,
  inMs,
  PAGE,
  type ShownAction,
  type ShownRelease,
  SOON_MS,
  startArticles,
  untilStatus,
} from '../support/released-articles.ts';
import { runVarve } from '../support/run-varve.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

let started: Awaited<ReturnType<typeof startArticles>>;
let client: ApiClient;

beforeAll(async () => {
  started = await startArticles();
  client = started.client;
}, 300_000);
afterAll(() => started.dispose());

async function published(documentId: string, path = 'articles', query = ''): Promise<boolean> {
  return (await client.call('GET', `/api/${path}/${documentId}${query}`)).status === 200;
}

describe('an action on an entry with `at`', () => {
  it('publishes the draft as it is at that time, and shows nothing before', async () => {
    const id = await draft(client, { title: 'early' });
    const path = `/api/articles/${id}/actions/publish`;
    const answer = await client.call<ShownRelease>('POST', path, { data: { at: inMs(60_000) } });
    expect(answer.status).toBe(202);
    expect(answer.data).toMatchObject({ status: 'ready', actions: { meta: { count: 1 } } });
    await client.data('PUT', `/api/articles/${id}?status=draft`, { data: { title: 'late' } });
    expect(await published(id)).toBe(false);
    await client.data('POST', path, { data: { at: inMs(SOON_MS) } });
    const done = await untilStatus(client, answer.data.id, 'done');
    expect(await client.data('GET', `/api/articles/${id}`)).toMatchObject({ title: 'late' });
    expect(Date.parse(done.releasedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(done.scheduledAt ?? ''));
    expect(done.lateMs).toBe(Date.parse(done.releasedAt ?? '') - Date.parse(done.scheduledAt ?? ''));
  });

  it('refuses parameters and members that it would ignore', async () => {
    const path = `/api/articles/${await draft(client, { title: 'a' })}/actions/publish`;
    const data = { at: inMs(60_000) };
    const query = await client.call('POST', `${path}?populate=*`, { data });
    expect([query.status, query.error?.message]).toEqual([400, expect.stringContaining('populate')]);
    const body = await client.call('POST', path, { data, other: 1 });
    expect([body.status, body.error?.message]).toEqual([400, 'Invalid key other']);
    expect((await client.call('POST', path, { data })).data).not.toHaveProperty('createdBy');
  });

  it('is moved by a later request, and ended by null', async () => {
    const id = await draft(client, { title: 'a' });
    const path = `/api/articles/${id}/actions/publish`;
    const first = await client.call<ShownRelease>('POST', path, { data: { at: inMs(60_000) } });
    const second = await client.call<ShownRelease>('POST', path, { data: { at: inMs(90_000) } });
    expect(second.data.id).toBe(first.data.id);
    expect(second.data.scheduledAt).not.toBe(first.data.scheduledAt);
    expect((await client.call('POST', path, { data: { at: null } })).status).toBe(202);
    expect((await client.call('GET', `/_varve/releases/${first.data.id}`)).status).toBe(404);
    expect((await client.call('POST', path, { data: { at: null } })).status).toBe(404);
  });

  it('is not ended by null if somebody has added other entries', async () => {
    const [id, other] = [await draft(client, { title: 'a' }), await draft(client, { title: 'b' })];
    const path = `/api/articles/${id}/actions/publish`;
    const { data: release } = await client.call<ShownRelease>('POST', path, { data: { at: inMs(60_000) } });
    const data = { type: 'publish', contentType: ARTICLE, entryDocumentId: other };
    await client.data('POST', `/_varve/releases/${release.id}/actions`, { data });
    expect((await client.call('POST', path, { data: { at: null } })).status).toBe(404);
    expect(await client.data('DELETE', `/_varve/releases/${release.id}`)).toMatchObject({
      actions: { meta: { count: 2 } },
    });
  });

  it.each([
    [{ at: 'tomorrow' }, 'at must be an instant such as'],
    [{ at: '2031-01-01T08:00' }, 'or a local time with timezone'],
    [{ at: '2001-01-01T08:00:00Z' }, 'at must be later than now'],
    [{ at: '2031-03-30T02:30', timezone: 'Europe/Berlin' }, 'does not exist in Europe/Berlin'],
    [{ at: '2031-10-26T02:30', timezone: 'Europe/Berlin' }, 'exists twice in Europe/Berlin'],
    [{ at: '2031-10-26T02:30', timezone: 'Mars/Base' }, 'timezone must be the name of a time zone'],
    [{ at: '2031-01-01T08:00:00Z', x: 1 }, 'has no x'],
    [{ at: 5 }, 'at must be a time'],
  ])('refuses %o', async (data, message) => {
    const id = await draft(client, { title: 'a' });
    const { status, error } = await client.call('POST', `/api/articles/${id}/actions/publish`, { data });
    expect(status).toBe(400);
    expect(error?.message).toContain(message);
  });

  it('refuses an entry that does not exist, and a type without drafts', async () => {
    const data = { at: inMs(60_000) };
    expect((await client.call('POST', '/api/articles/nothing/actions/publish', { data })).status).toBe(404);
    const note = await client.data<{ readonly documentId: string }>('POST', '/api/notes', {
      data: { title: 'a' },
    });
    const path = `/api/notes/${note.documentId}/actions/publish`;
    expect((await client.call('POST', path, { data })).status).toBe(400);
  });
});

it('varve release creates a release, adds entries and carries it out', { timeout: 300_000 }, async () => {
  const ids = [await draft(client, { title: 'a' }), await draft(client, { title: 'b' })];
  const release = (...args: readonly string[]) =>
    runVarve(['release', ...args, '--data', started.server.data]);
  const { stdout } = await release('create', 'by command');
  const id = stdout.trim();
  const added = await release('add', id, '--type', ARTICLE, '--entries', ids.join());
  expect(added).toEqual({ code: 0, stdout: '', stderr: '2 entries are added.\n' });
  expect(await client.data('GET', `/_varve/releases/${id}`)).toMatchObject({ status: 'ready' });
  const done = await release('publish', id);
  expect(done).toEqual({ code: 0, stdout: '', stderr: '2 entries are published, 0 unpublished.\n' });
  expect(await Promise.all(ids.map((each) => published(each)))).toEqual([true, true]);
});

describe('a release of one entry', takesMinutes('releases of one entry'), () => {
  it('unpublishes', async () => {
    const id = await draft(client, { title: 'a' });
    await client.data('POST', `/api/articles/${id}/actions/publish`);
    const { data } = await client.call<ShownRelease>('POST', `/api/articles/${id}/actions/unpublish`, {
      data: { at: inMs(SOON_MS) },
    });
    await untilStatus(client, data.id, 'done');
    expect(await published(id)).toBe(false);
  });

  it('acts on the locale of the request', async () => {
    const id = await draft(client, { title: 'a' }, 'pages');
    await client.data('PUT', `/api/pages/${id}?locale=fr&status=draft`, { data: { title: 'b' } });
    const { data } = await client.call<ShownRelease>('POST', `/api/pages/${id}/actions/publish?locale=fr`, {
      data: { at: inMs(SOON_MS) },
    });
    await untilStatus(client, data.id, 'done');
    expect(await published(id, 'pages', '?locale=fr')).toBe(true);
    expect(await published(id, 'pages')).toBe(false);
  });
});

describe('a release', takesMinutes('all requests about releases'), () => {
  it('publishes and unpublishes all of its entries at its time, in a time zone by name', async () => {
    const [one, two, three] = [
      await draft(client, { title: '1', code: 'swap-a' }),
      await draft(client, { title: '2' }),
      await draft(client, { title: '3', code: 'swap-b' }),
    ] as const;
    await client.data('POST', `/api/articles/${two}/actions/publish`);
    await client.data('POST', `/api/articles/${three}/actions/publish`);
    // The first article gets the code of the third one, which is published at the same time with another.
    await client.data('PUT', `/api/articles/${one}?status=draft`, { data: { code: 'swap-b' } });
    await client.data('PUT', `/api/articles/${three}?status=draft`, { data: { code: 'swap-c' } });
    const { id } = await addRelease(client, { name: 'all' }, [one, three]);
    const data = { type: 'unpublish', contentType: ARTICLE, entryDocumentId: two };
    await client.data('POST', `/_varve/releases/${id}/actions`, { data });
    const at = Temporal.Now.zonedDateTimeISO('Europe/Berlin').add({ milliseconds: SOON_MS });
    const head = { name: 'all', scheduledAt: at.toPlainDateTime().toString(), timezone: 'Europe/Berlin' };
    const before = await client.data<ShownRelease>('PUT', `/_varve/releases/${id}`, { data: head });
    expect(before).toMatchObject({ status: 'ready', timezone: 'Europe/Berlin', problems: [] });
    expect(before.scheduledAt).toBe(new Date(at.epochMilliseconds).toISOString());
    await untilStatus(client, id, 'done');
    expect(await Promise.all([one, two, three].map((each) => published(each)))).toEqual([true, false, true]);
    expect(await client.data('GET', `/api/articles/${one}`)).toMatchObject({ code: 'swap-b' });
  });

  it('names entries that block it, and publishes nothing', async () => {
    const good = await draft(client, { title: 'good' });
    const bad = await draft(client, {});
    const blocked = await addRelease(client, { name: 'blocked', soon: true }, [good, bad]);
    expect(blocked.status).toBe('blocked');
    expect(blocked.problems).toMatchObject([
      { entryDocumentId: bad, reason: expect.stringContaining('title') },
    ]);
    const failed = await untilStatus(client, blocked.id, 'failed');
    expect(failed.problems).toEqual(blocked.problems);
    expect(await published(good)).toBe(false);
    await client.data('PUT', `/api/articles/${bad}?status=draft`, { data: { title: 'better' } });
    await client.data('PUT', `/_varve/releases/${blocked.id}`, {
      data: { name: 'blocked', scheduledAt: inMs(SOON_MS) },
    });
    await untilStatus(client, blocked.id, 'done');
    expect([await published(good), await published(bad)]).toEqual([true, true]);
  });

  it('is blocked by a value that two of its entries or another article have', async () => {
    const taken = await draft(client, { title: 'a', code: 'taken' });
    await client.data('POST', `/api/articles/${taken}/actions/publish`);
    const ids = [
      await draft(client, { title: 'a', code: 'same' }),
      await draft(client, { title: 'b', code: 'same' }),
      await draft(client, { title: 'c', code: 'taken' }),
    ];
    const { problems, status } = await addRelease(client, { name: 'unique' }, ids);
    expect(status).toBe('blocked');
    expect(problems.map(({ entryDocumentId }) => entryDocumentId)).toEqual(ids);
    expect(problems.every(({ reason }) => reason === 'code: This attribute must be unique')).toBe(true);
  });

  it('is carried out by a caller, once', async () => {
    const ids = [await draft(client, { title: 'a' }), await draft(client, { title: 'b' })];
    const { id, status } = await addRelease(client, { name: 'by hand' }, ids);
    expect(status).toBe('ready');
    const publish = () => client.call<ShownRelease>('POST', `/_varve/releases/${id}/publish`);
    const answers = await Promise.all([publish(), publish(), publish()]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 400, 400]);
    expect(answers.find((answer) => answer.status === 200)).toMatchObject({
      data: { status: 'done', lateMs: null },
      meta: { totalEntries: 2, totalPublishedEntries: 2, totalUnpublishedEntries: 0 },
    });
    const history = await client.data<{ readonly via: string }[]>('GET', `/api/articles/${ids[0]}/versions`);
    expect(history.map(({ via }) => via)).toEqual(['release', 'create']);
    for (const [method, path] of [
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/publish'],
    ] as const) {
      const body = method === 'PUT' ? { data: { name: 'other' } } : undefined;
      const refused = await client.call(method, `/_varve/releases/${id}${path}`, body);
      expect([refused.status, refused.error?.message]).toEqual([400, 'Release already published']);
    }
  });

  it('lists, changes and removes its actions', async () => {
    const [one, two] = [await draft(client, { title: 'a' }), await draft(client, { title: 'b' })];
    const page = await draft(client, { title: 'c' }, 'pages');
    const { id } = await addRelease(client, { name: 'actions' }, []);
    const actions = `/_varve/releases/${id}/actions`;
    const ofArticle = (entryDocumentId: string) => ({
      type: 'publish',
      contentType: ARTICLE,
      entryDocumentId,
    });
    const ofPage = { type: 'unpublish', contentType: PAGE, entryDocumentId: page, locale: 'en' };
    const first = await client.data<ShownAction>('POST', actions, { data: ofArticle(one) });
    expect(first).toMatchObject({
      type: 'publish',
      isEntryValid: true,
      problem: null,
      status: 'draft',
      locale: null,
    });
    const again = await client.call('POST', actions, { data: ofArticle(one) });
    expect(again.error?.message).toBe('entryDocumentId is in the release already');
    const bulk = await client.call<ShownAction[]>('POST', `${actions}/bulk`, {
      data: [ofArticle(one), ofArticle(two), ofPage],
    });
    expect(bulk.meta).toEqual({ entriesAlreadyInRelease: 1, totalEntries: 3 });
    expect(bulk.data.map(({ entryDocumentId }) => entryDocumentId)).toEqual([two, page]);
    const listed = await client.call<Record<string, ShownAction[]>>('GET', `${actions}?groupBy=action`);
    expect(Object.entries(listed.data).map(([name, group]) => [name, group.length])).toEqual([
      ['publish', 2],
      ['unpublish', 1],
    ]);
    expect(listed.meta).toMatchObject({ pagination: { page: 1, pageSize: 25, pageCount: 1, total: 3 } });
    const changed = await client.data<ShownAction>('PUT', `${actions}/${first.id}`, {
      data: { type: 'unpublish' },
    });
    expect(changed).toMatchObject({ id: first.id, type: 'unpublish' });
    await client.data('DELETE', `${actions}/${first.id}`);
    expect((await client.call('DELETE', `${actions}/${first.id}`)).status).toBe(404);
    const byType = await client.data<Record<string, ShownAction[]>>('GET', `${actions}?pageSize=1&page=2`);
    expect(byType).toMatchObject({ page: [{ entryDocumentId: page, locale: { code: 'en' } }] });
  });

  it.each([
    [{}, 'name is missing'],
    [{ name: 'a', scheduledAt: '2001-01-01T00:00:00Z' }, 'scheduledAt must be later than now'],
    [{ name: 'a', other: 1 }, 'has no other'],
    [{ name: 'taken' }, 'name is taken'],
  ])('is refused if its body is %o', async (data, message) => {
    const taken = await client.call('POST', '/_varve/releases', { data: { name: 'taken' } });
    expect([201, 400]).toContain(taken.status);
    const { status, error } = await client.call('POST', '/_varve/releases', { data });
    expect(status).toBe(400);
    expect(error?.message).toContain(message);
  });

  it('refuses entries that do not exist and types without drafts, with all problems', async () => {
    const { id } = await addRelease(client, { name: 'refused' }, []);
    const { status, error } = await client.call('POST', `/_varve/releases/${id}/actions/bulk`, {
      data: [
        { type: 'publish', contentType: ARTICLE, entryDocumentId: 'nothing' },
        { type: 'publish', contentType: 'api::note.note', entryDocumentId: 'x' },
        { type: 'publish', contentType: 'api::x.x', entryDocumentId: 'x' },
        { type: 'publish', contentType: ARTICLE },
      ],
    });
    expect(status).toBe(400);
    const { errors } = (error as unknown as { details: { errors: { path: string }[] } }).details;
    expect(errors.map(({ path }) => path)).toEqual([
      '0.entryDocumentId',
      '1.contentType',
      '2.contentType',
      '3.entryDocumentId',
    ]);
  });
});
