import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import {
  addRelease,
  articleTypes,
  draft,
  inMs,
  type ShownRelease,
  SOON_MS,
  startArticles,
  untilStatus,
} from '../support/released-articles.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

describe('a release on other surfaces', takesMinutes('releases, webhooks and caches'), () => {
  let started: Awaited<ReturnType<typeof startArticles>>;
  let client: ApiClient;
  beforeAll(async () => {
    started = await startArticles(['--cache-tags', 'fastly']);
    client = started.client;
  }, 300_000);
  afterAll(() => started.dispose());

  it('is in a webhook after its entries, or with the reasons why it failed', async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const hook = { url: receiver.url, allowPrivate: true, events: ['entry.publish', 'releases.publish'] };
    await client.data('POST', '/_varve/webhooks', { data: hook });
    const ids = [await draft(client, { title: 'a' }), await draft(client, { title: 'b' })];
    const { id } = await addRelease(client, { name: 'notified', soon: true }, ids);
    const received = await receiver.until(3);
    expect(received.map(({ json }) => json.event).sort()).toEqual([
      'entry.publish',
      'entry.publish',
      'releases.publish',
    ]);
    const done = await untilStatus(client, id, 'done');
    const { name, scheduledAt, releasedAt, timezone, status } = done;
    expect(received.find(({ json }) => json.event === 'releases.publish')?.json).toEqual({
      event: 'releases.publish',
      createdAt: releasedAt,
      isPublished: true,
      release: { id, name, releasedAt, scheduledAt, timezone, status },
    });
    const bad = await addRelease(client, { name: 'bad' }, [await draft(client, {})]);
    expect((await client.call('POST', `/_varve/releases/${bad.id}/publish`)).status).toBe(400);
    const [, , , failed] = await receiver.until(4);
    expect(failed?.json).toMatchObject({
      event: 'releases.publish',
      isPublished: false,
      error: {
        message: 'Release failed to publish',
        details: { problems: [{ reason: expect.stringContaining('title') }] },
      },
      release: { id: bad.id, status: 'failed', releasedAt: null },
    });
  });

  it('changes no answer, tag, ETag or item of the feed before its time', async () => {
    const shown = await draft(client, { title: 'shown', batch: 'x' });
    await client.data('POST', `/api/articles/${shown}/actions/publish`);
    const hidden = await draft(client, { title: 'hidden', batch: 'secret' });
    const paths = [
      '/api/articles?sort=title',
      '/api/articles?search=hidden',
      '/api/articles?facets=batch&pagination[pageSize]=1',
      `/api/articles/${hidden}`,
      '/api/articles?filters[batch][$eq]=secret',
      '/api/articles?status=draft&sort=title',
      '/api/_changes?types=articles',
    ];
    const read = () => Promise.all(paths.map((path) => seenAt(started.server.url + path)));
    const before = await read();
    const { data } = await client.call<ShownRelease>('POST', `/api/articles/${hidden}/actions/publish`, {
      data: { at: inMs(60_000) },
    });
    const release = await addRelease(client, { name: 'hidden' }, [hidden]);
    expect([data.status, release.status]).toEqual(['ready', 'ready']);
    expect(await read()).toEqual(before);
    await client.data('POST', `/_varve/releases/${release.id}/publish`);
    expect(await read()).not.toEqual(before);
  });
});

/** Everything of an answer that content can change. The feed also names the position of the log, which every event moves. */
async function seenAt(url: string) {
  const answer = await fetch(url);
  const body = (await answer.text()).replaceAll(/"(position|next)":"[^"]*"/g, '');
  const names = ['etag', 'surrogate-key', 'last-modified', 'cache-control', 'content-length'];
  const headers = names.filter((name) => url.includes('_changes') === false || name === 'cache-control');
  return { status: answer.status, body, headers: headers.map((name) => answer.headers.get(name)) };
}

const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');

describe('releases on KurrentDB', takesMinutes('releases behind the gRPC double'), () => {
  it.each([
    ['26.1', 3],
    ['24.2', 1],
  ] as const)(
    '%s publishes up to %s documents together',
    async (version, most) => {
      const double = await startKurrentDbDouble({ server: version });
      const types = articleTypes();
      onTestFinished(async () => {
        double.stop();
        types.remove();
      });
      const server = await startServer({
        contentTypes: types.folder,
        arguments: ['--event-store', double.url, '--access-key', ACCESS_KEY],
      });
      onTestFinished(() => server.dispose());
      const client = createApiClient(server.url);
      const ids = [];
      for (let n = 0; n < 3; n++) ids.push(await draft(client, { title: `article ${n}` }));
      const { id } = await addRelease(client, { name: 'kurrent' }, ids.slice(0, most));
      const action = { type: 'publish', contentType: 'api::article.article', entryDocumentId: ids[2] };
      const more = await client.call('POST', `/_varve/releases/${id}/actions`, { data: action });
      if (most === 1)
        expect([more.status, more.error?.message]).toEqual([
          400,
          expect.stringContaining('older than KurrentDB 26.1'),
        ]);
      else expect(more.error?.message).toBe('entryDocumentId is in the release already');
      const head = { name: 'kurrent', scheduledAt: inMs(SOON_MS) };
      await client.data('PUT', `/_varve/releases/${id}`, { data: head });
      await untilStatus(client, id, 'done');
      const statuses = await Promise.all(
        ids.map(async (each) => (await client.call('GET', `/api/articles/${each}`)).status),
      );
      expect(statuses).toEqual(ids.map((_, n) => (n < most ? 200 : 404)));
      const versions = await client.data<{ readonly action: string }[]>(
        'GET',
        `/api/articles/${ids[0]}/versions`,
      );
      expect(versions.map((each) => each.action)).toEqual(['publish', 'create']);
    },
    300_000,
  );
});
