import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchFleet, startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const SECRET = 'a secret of this test alone';

describe('varve api with a leader that follows Strapi', async () => {
  const options = await needsElasticsearch(takesMinutes('varve api with a leader that follows Strapi'));
  describe('with writes that are forwarded to the source', { ...options }, () => {
    let source: RunningServer;
    let fleet: ElasticsearchFleet;
    let url: string;

    beforeAll(async () => {
      source = await startServer();
      const body = { data: { key: 'first', name: 'First' } };
      expect((await createAsk(source.url)('/api/tags', { method: 'POST', body })).status).toBe(201);
      fleet = await startElasticsearchFleet({
        ...{ url: await elasticsearchUrl(), space: `follow_${process.pid}`, projects: 1, apis: 1 },
        arguments: ['--follow', source.url],
        // With this interval the follower does not look by itself. It gets only its own writes and those that webhooks name.
        env: { VARVE_FOLLOW_WEBHOOK_SECRET: SECRET, VARVE_FOLLOW_INTERVAL: '10m' },
      });
      ({ url } = (fleet.apis[0] as ElasticsearchFleet['apis'][number]).server());
    }, 300_000);
    afterAll(async () => {
      await fleet?.dispose();
      await source?.dispose();
    });

    const shows = (name: string) =>
      expect
        .poll(async () => JSON.stringify((await createAsk(url)('/api/tags?pagination[pageSize]=100')).body), {
          timeout: 300_000,
        })
        .toContain(`"${name}"`);

    test('a write is executed there, and visible when it is answered', { timeout: 300_000 }, async () => {
      await shows('First');
      const ask = createAsk(url);
      const body = { data: { key: 'second', name: 'Second' } };
      const written = await ask('/api/tags', { method: 'POST', body });
      expect(written.status).toBe(201);
      const path = `/api/tags/${written.body.data.documentId}`;
      expect((await ask(path)).body.data.name).toBe('Second');
      expect((await createAsk(source.url)(path)).body.data.name).toBe('Second');
      expect((await ask(path, { method: 'DELETE' })).status).toBe(204);
      expect((await ask(path)).status).toBe(404);
    });

    test('a webhook there makes the leader read the document', { timeout: 300_000 }, async () => {
      const made = await createAsk(source.url)('/api/tags', {
        method: 'POST',
        body: { data: { key: 'third', name: 'Third' } },
      });
      const hint = { event: 'entry.create', uid: 'api::tag.tag', entry: made.body.data };
      const send = (secret: string) =>
        createAsk(url, secret)('/_varve/strapi', { method: 'POST', body: hint });
      expect((await send('guessed')).status).toBe(401);
      expect((await send(SECRET)).status).toBe(204);
      await shows('Third');
    });
  });
});
