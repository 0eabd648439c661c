import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import {
  type ElasticsearchProxy,
  type InterceptedAnswer,
  type ProxiedRequest,
  startElasticsearchProxy,
} from '../support/elasticsearch-proxy.ts';
import { sampleOf } from '../support/metrics-client.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Tests writes to a real Elasticsearch, through a proxy that can answer 429. */
const space = `writing_${process.pid}`;
let elasticsearch: string;
let proxy: ElasticsearchProxy;
let server: RunningServer;

/** Number of the next bulk requests that the proxy answers with 429. */
let refusals = 0;
let refused = 0;

function refuseWhenBusy({ path }: ProxiedRequest): InterceptedAnswer | undefined {
  if (!path.startsWith('/_bulk') || refusals === 0) return undefined;
  refusals--;
  refused++;
  const error = { type: 'es_rejected_execution_exception', reason: 'queue is full' };
  return { status: 429, json: { error, status: 429 } };
}

type Answer = {
  readonly data: { readonly documentId: string };
  readonly meta?: {
    readonly pagination?: { readonly total: number };
    /** Position of a write that was not visible in time. */
    readonly position?: string;
  };
};

async function send(
  method: string,
  path: string,
  data?: object,
  statuses: readonly number[] = [200, 201],
): Promise<Answer> {
  const answer = await fetch(`${server.url}/api/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(data === undefined ? {} : { body: JSON.stringify({ data }) }),
  });
  const text = await answer.text();
  expect(statuses, text.slice(0, 500)).toContain(answer.status);
  return JSON.parse(text) as Answer;
}

async function found(path: string): Promise<readonly { readonly [name: string]: unknown }[]> {
  const { data } = await send('GET', path);
  return data as unknown as readonly { readonly [name: string]: unknown }[];
}

async function metric(name: string): Promise<number | undefined> {
  return sampleOf(await (await fetch(`${server.url}/metrics`)).text(), name);
}

/** Drafts: the most rows that a write waits for. */
const COPIED = { draft: 100, published: 50 } as const;

const create = async (collection: string, data: object): Promise<string> =>
  (await send('POST', collection, data)).data.documentId;

describe(
  'documents that are written to Elasticsearch',
  await needsElasticsearch(takesMinutes('documents that are written to Elasticsearch')),
  () => {
    beforeAll(async () => {
      elasticsearch = await elasticsearchUrl();
      proxy = await startElasticsearchProxy(elasticsearch);
      proxy.intercept(refuseWhenBusy);
      server = await startServer({
        arguments: ['--read-index', proxy.url, '--space', space, '--body-limit', '4000000'],
      });
    }, 180_000);
    afterAll(async () => {
      await server?.dispose();
      proxy?.close();
      await removeIndices(elasticsearch, space);
    });

    it('finds a text of a megabyte by words in its middle, and returns it completely', async () => {
      const word = (n: number) => `word${(n * 7919) % 100_003}`;
      const half = Array.from({ length: 56_000 }, (_, n) => word(n)).join(' ');
      const story = `${half} The Needle in the middle, ${half}`;
      expect(story.length).toBeGreaterThan(2 ** 20);
      // 202: on a machine that is busy with other tests, visibility may take longer than a write waits.
      await send('POST', 'restaurants', { key: 'long', name: 'Long', story }, [201, 202]);
      await expect
        .poll(() => found('restaurants?filters[key][$eq]=long&fields[0]=key'), { timeout: 60_000 })
        .toHaveLength(1);
      const contains = (text: string) =>
        found(`restaurants?filters[story][$containsi]=${encodeURIComponent(text)}&fields[0]=story`);
      const [only, ...others] = await contains('the needle IN the middle, word0 word7919');
      expect(others).toEqual([]);
      expect(only?.['story'] === story).toBe(true);
      expect(await contains('the needle in the center')).toEqual([]);
    }, 300_000);

    it('shows a change when the write is answered, in up to a hundred documents that copy it', async () => {
      const country = await create('countries', { key: 'co', name: 'Before' });
      const chef = await create('chefs', { key: 'chef', name: 'Chef', country });
      let next = 0;
      const creators = Array.from({ length: 20 }, async () => {
        for (let i = next++; i < COPIED.draft; i = next++) {
          const status = i < COPIED.published ? 'published' : 'draft';
          await send(
            'POST',
            `restaurants?status=${status}`,
            { key: `r${i}`, name: `R${i}`, chef },
            [201, 202],
          );
        }
      });
      await Promise.all(creators);
      // 202: a machine that is busy with other tests did not write them in time. The next write is sent when the backlog is empty.
      for (const name of ['After', 'Later', 'Last']) {
        await expect.poll(() => metric('varve_fanout_backlog_documents'), { timeout: 60_000 }).toBe(0);
        const { meta } = await send('PUT', `countries/${country}`, { name }, [200, 202]);
        if (meta?.position !== undefined) continue;
        for (const status of ['draft', 'published'] as const) {
          const query = `filters[chef][country][name][$eq]=${name}&status=${status}&pagination[pageSize]=1`;
          expect((await send('GET', `restaurants?${query}`)).meta?.pagination?.total).toBe(COPIED[status]);
        }
        return showsMoreCopiesLater(country, chef);
      }
      expect.unreachable('no write was visible in all that copy it within the time that it waits');
    }, 240_000);

    /** With one more copy the write is answered all the same, and a read with its position waits for all copies. */
    async function showsMoreCopiesLater(country: string, chef: string): Promise<void> {
      await send('POST', 'restaurants?status=draft', { key: 'more', name: 'More', chef }, [201, 202]);
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ data: { name: 'Renamed' } });
      const url = `${server.url}/api/countries/${country}`;
      const answer = await fetch(url, { method: 'PUT', headers, body });
      expect([200, 202]).toContain(answer.status);
      const position = { 'Varve-Min-Position': answer.headers.get('varve-position') ?? '' };
      const query = 'filters[chef][country][name][$eq]=Renamed&status=draft&pagination[pageSize]=1';
      const read = async () => fetch(`${server.url}/api/restaurants?${query}`, { headers: position });
      await expect.poll(async () => (await read()).status, { timeout: 60_000 }).toBe(200);
      expect(((await (await read()).json()) as Answer).meta?.pagination?.total).toBe(COPIED.draft + 1);
    }

    it('retries while Elasticsearch is too busy, and answers once the write is visible', async () => {
      const before = refused;
      refusals = 3;
      await create('tags', { key: 'busy', name: 'busy' });
      expect(await found('tags?filters[key][$eq]=busy')).toHaveLength(1);
      expect(refused).toBe(before + 3);
      await expect.poll(server.output).toContain('Elasticsearch accepts no documents, trying again');
      await expect.poll(server.output).toContain('Elasticsearch accepts documents again');
    });

    it('parks a document that Elasticsearch refuses, reports it with the reason, and writes all others', async () => {
      const index = `${elasticsearch}/${space}-api_restaurant_restaurant-draft-1`;
      const allow = async (nested: number | null) => {
        const body = JSON.stringify({ index: { 'mapping.nested_objects.limit': nested } });
        const headers = { 'content-type': 'application/json' };
        expect((await fetch(`${index}/_settings`, { method: 'PUT', headers, body })).status).toBe(200);
      };
      await allow(1);
      const hours = ['mon', 'tue', 'wed'].map((day) => ({ day, note: day }));
      // The write is stored, although searches do not find it in the draft world.
      const answer = await fetch(`${server.url}/api/restaurants`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ data: { key: 'refused', name: 'Refused', hours } }),
      });
      expect(answer.status).toBeLessThan(300);
      await create('restaurants', { key: 'taken', name: 'Taken' });
      expect(await found('restaurants?status=draft&filters[key][$eq]=taken')).toHaveLength(1);
      expect(await found('restaurants?status=draft&filters[key][$eq]=refused')).toHaveLength(0);
      expect(await found('restaurants?filters[key][$eq]=refused')).toHaveLength(1);
      expect(await metric('varve_index_refused_documents')).toBe(1);
      const line = () =>
        server
          .output()
          .split('\n')
          .find((each) => each.includes('Elasticsearch refuses a document'));
      await expect.poll(line).toMatch(/nested documents has exceeded the allowed limit|nested/);
      expect(line()).toContain('api::restaurant.restaurant');

      // The parked document is written with its next change.
      await allow(null);
      const [{ documentId } = {}] = await found('restaurants?filters[key][$eq]=refused');
      await send('PUT', `restaurants/${String(documentId)}`, { name: 'Accepted' });
      expect(await found('restaurants?status=draft&filters[name][$eq]=Accepted')).toHaveLength(1);
      expect(await metric('varve_index_refused_documents')).toBe(0);
    });

    it('sets indices to remember deletes for an hour, and publishes its position', async () => {
      const settings = await (
        await fetch(`${elasticsearch}/${space}-api_*/_settings?flat_settings=true`)
      ).json();
      const all = Object.values(settings as { [index: string]: { settings: { [name: string]: string } } });
      expect(all.length).toBeGreaterThan(10);
      expect(new Set(all.map((each) => each.settings['index.gc_deletes']))).toEqual(new Set(['1h']));
      const progress = async () => {
        await fetch(`${elasticsearch}/${space}-progress/_refresh`, { method: 'POST' });
        const answer = await (await fetch(`${elasticsearch}/${space}-progress/_search`)).json();
        const { hits } = (answer as { hits: { hits: { _source: { position?: string } }[] } }).hits;
        // Another document of this index names the writing process.
        return hits.find(({ _source }) => _source.position !== undefined)?._source;
      };
      await expect
        .poll(async () => ({ log: String(await metric('varve_log_position')), ...(await progress()) }))
        .toSatisfy(({ log, position }) => log === position);
      expect(await progress()).toMatchObject({ parked: [] });
    });
  },
);
