import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createAsk } from '../support/access-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchFleet, startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import { openEvents } from '../support/event-source.ts';
import { readFeed } from '../support/feed-client.ts';
import type { Member } from '../support/fleet.ts';
import { followFeed } from '../support/follow-feed.ts';
import { pauseMember } from '../support/pause-member.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

/** Number of times that the leader is killed or stopped. */
const ENDS = Number(process.env['VARVE_FEED_ENDS'] ?? 2);
const RETRY = { VARVE_WEBHOOK_RETRY: Array(200).fill('0.1').join(), VARVE_WEBHOOK_HOLD: '3600' };

let fleet: ElasticsearchFleet;
const urlOf = (member: Member | undefined) => member?.server().url ?? '';

describe(
  'feeds and webhooks on Elasticsearch',
  await needsElasticsearch(takesMinutes('feeds and webhooks on Elasticsearch')),
  () => {
    beforeAll(async () => {
      const url = await elasticsearchUrl();
      const size = { projects: 2, apis: 2 };
      fleet = await startElasticsearchFleet({
        url,
        space: `feeds_${process.pid}`,
        ...size,
        env: RETRY,
      });
    }, 180_000);
    afterAll(() => fleet?.dispose());

    const ask = (at: number) => createAsk(urlOf(fleet.apis[at]));
    const write = async (path: string, data: object, method = 'POST'): Promise<string> => {
      const headers = { 'idempotency-key': crypto.randomUUID() };
      for (;;) {
        const sent = ask(0)(path, { method, headers, body: { data } });
        const answer = await sent.catch(() => undefined);
        const documentId = answer?.body?.data?.documentId;
        if (documentId !== undefined) return documentId;
        // 202: the write is stored, and reads do not show it yet. A later request with the same key returns its answer.
        expect([202, 503], JSON.stringify(answer?.body)).toContain(answer?.status ?? 503);
      }
    };

    // This test uses another type than those below: an api process may show a change later than another one.
    it('are answered by every api process with the token of another', async () => {
      const { next } = await readFeed(ask(0), 'types=categories');
      const id = await write('/api/categories', { key: 'one' });
      await write(`/api/categories/${id}`, { name: 'n' }, 'PUT');
      await ask(1)(`/api/categories/${id}`, { method: 'DELETE' });
      const seen: unknown[] = [];
      let since = next;
      while (seen.length < 3) {
        const page = await readFeed(ask(1), 'types=categories', since);
        seen.push(...page.items.map(({ event, documentId, changed }) => [event, documentId, changed]));
        since = page.next;
      }
      expect(seen).toEqual([
        ['create', id, undefined],
        ['update', id, ['name']],
        ['delete', id, undefined],
      ]);
    });

    it('have the links of documents, and the refusals of the process that reads them', async () => {
      // Other types than in the tests below, see above.
      const country = await write('/api/countries', { key: 'linked' });
      const query = 'types=chefs&related=true&status=draft';
      const chef = await write('/api/chefs?status=draft', { key: 'c', country });
      const { next } = await readFeed(ask(0), query);
      await write(`/api/countries/${country}`, { name: 'renamed' }, 'PUT');
      const related = { event: 'related', cause: { type: 'api::country.country', documentId: country } };
      await expect
        .poll(async () => (await readFeed(ask(0), query, next)).items, { timeout: 30_000 })
        .toContainEqual(expect.objectContaining({ ...related, documentId: chef }));
      const { body } = await ask(1)(`/api/_changes?${query}&since=${next.replace(/^\d+/, '999999')}`);
      expect(body.error).toMatchObject({ status: 410, code: 'sync-token-gone', details: { param: 'since' } });
      const anonymous = createAsk(urlOf(fleet.apis[0]), 'no such token');
      expect((await anonymous('/api/_changes')).status).toBe(401);
    });

    it('accept a ticket once, and refuse what is not supported', async () => {
      const { body } = await ask(0)('/_varve/tickets', { method: 'POST' });
      const open = (at: number) =>
        openEvents(`${urlOf(fleet.apis[at])}/api/_changes?types=tags&ticket=${body.data.ticket}`);
      const stream = await open(1);
      onTestFinished(stream.close);
      for (const at of [0, 1]) await expect(open(at)).rejects.toThrow(/^401 .*The ticket is unknown/);
      const accept = { accept: 'text/event-stream' };
      const refused = [
        await ask(0)('/api/tags?live=true', { headers: accept }),
        await ask(0)('/_varve/webhooks/any/deliveries'),
      ];
      for (const { status, body: answered } of refused) {
        expect([status, answered.error.code]).toEqual([400, 'not-supported']);
        expect(answered.error.message).toMatch(/^This process (does not support|has no deliveries)/);
        expect(JSON.stringify(answered.error.details)).toMatch(/varve serve|embedded index/);
      }
      // The leader replays.
      const replayed = await ask(0)('/_varve/webhooks/any/replay', { method: 'POST', body: {} });
      expect([replayed.status, replayed.body.error.code]).toEqual([404, 'webhook-not-found']);
      const { paths } = (await ask(0)('/openapi.json')).body;
      expect(JSON.stringify(paths['/api/tags'].get.parameters)).not.toContain('"live"');
    });

    it(
      `lose nothing and keep their order while the leader is killed or stopped ${ENDS} times`,
      async () => {
        const receiver = await startReceiver();
        onTestFinished(receiver.close);
        const hook = { url: receiver.url, allowPrivate: true, types: ['api::tag.tag'] };
        expect((await ask(0)('/_varve/webhooks', { method: 'POST', body: { data: hook } })).status).toBe(201);
        const { next } = await readFeed(ask(0), 'types=tags');
        let turn = 0;
        const feed = followFeed(() => urlOf(fleet.apis[turn++ % 2]), `types=tags&since=${next}`);
        const id = await write('/api/tags', { key: 'k0' });
        let written = 1;
        const edit = async (count: number) => {
          for (let n = 0; n < count; n++) await write(`/api/tags/${id}`, { key: `k${written++}` }, 'PUT');
        };
        for (let end = 0; end < ENDS; end++) {
          await edit(5);
          const leader = await fleet.leader();
          const isKilled = end % 2 === 0;
          receiver.answer(() => ({ status: 500 }));
          const stop = () => (isKilled ? leader.end('SIGKILL') : pauseMember(fleet, leader));
          await Promise.all([stop(), edit(5)]);
          receiver.answer(() => ({ status: 200 }));
          if (isKilled) await leader.start();
          else leader.server().signal('SIGCONT');
          feed.leave();
        }
        const keys = () => [
          ...new Map(receiver.received.map(({ id: one, json }) => [one, json.entry?.['key']])).values(),
        ];
        await expect.poll(() => keys().length, { timeout: 120_000 }).toBe(written);
        const wanted = Array.from({ length: written }, (_, n) => `k${n}`);
        expect(keys()).toEqual(wanted);
        await feed.until(written);
        const events = feed.items.map(({ event }) => event);
        expect(events).toEqual(['create', ...Array(written - 1).fill('update')]);
        expect(feed.others).toEqual([]);
      },
      180_000 + ENDS * 60_000,
    );

    it('are refused without a leader: pages with a 503, and streams end', async () => {
      const { next } = await readFeed(ask(0), 'types=continents');
      await Promise.all(fleet.projects.map((project) => project.end('SIGKILL')));
      const { status, body } = await ask(0)(`/api/_changes?types=continents&since=${next}`);
      expect([status, ['no-leader', 'leader-lost'].includes(body.error.code)]).toEqual([503, true]);
      const again = await openEvents(`${urlOf(fleet.apis[0])}/api/_changes?types=continents&since=${next}`);
      onTestFinished(again.close);
      await expect.poll(again.isEnded, { timeout: 60_000 }).toBe(true);
      await Promise.all(fleet.projects.map((project) => project.start()));
      const id = await write('/api/continents', { key: 'after' });
      const feed = followFeed(() => urlOf(fleet.apis[0]), `types=continents&since=${next}`);
      await feed.until(1);
      expect(feed.items.map(({ documentId }) => documentId)).toEqual([id]);
    }, 180_000);
  },
);
