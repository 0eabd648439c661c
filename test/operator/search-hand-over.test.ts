import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { runVarve } from '../support/run-varve.ts';
import { createDataDirectory, type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Searches on Elasticsearch during edits, and during a hand-over to another generation. */
const data = createDataDirectory();
const space = `searching_${process.pid}`;
const JSON_BODY = { 'content-type': 'application/json' };
let elasticsearch: string;
let server: RunningServer;

const SEARCHES = [
  'search=casa&facets=city.name,stars&highlight=name,tagline',
  'search=tabrena&facets[seats][ranges]=..40,40..',
  'search=a&sort=name:desc&pagination[pageSize]=3&populate=city',
  'search=a%20place%20for%20a%20long%20dinner%20beside%20the%20sea&facets=priceLevel',
].map((query) => `/api/restaurants?${query}`);
const POST = JSON.stringify({
  requests: [
    { indexName: 'restaurants', query: 'casa', facets: ['city.name', 'stars'], facetFilters: [['stars:1']] },
    { indexName: 'restaurants', query: 'casa', facets: ['stars'], hitsPerPage: 0 },
  ],
});

async function answer(path: string, body?: string): Promise<string> {
  const request =
    body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': 'text/plain' } };
  const response = await fetch(server.url + path, request);
  const text = (await response.text()).replace(/"processingTimeMS":\d+/g, '');
  return `${response.status} ${text}`;
}

const answers = () =>
  Promise.all([...SEARCHES.map((path) => answer(path)), answer('/1/indexes/*/queries', POST)]);

async function write(method: string, path: string, written?: object): Promise<string> {
  const body = written === undefined ? {} : { body: JSON.stringify({ data: written }), headers: JSON_BODY };
  const response = await fetch(`${server.url}/api/${path}`, { method, ...body });
  const text = await response.text();
  expect(response.status, text).toBeLessThan(300);
  return text === '' ? '' : (JSON.parse(text) as { data: { documentId: string } }).data.documentId;
}

const namesOf = async (query: string) => {
  const { data: found } = (await (await fetch(`${server.url}/api/restaurants?${query}`)).json()) as {
    readonly data: readonly { readonly name: string }[];
  };
  return found.map(({ name }) => name);
};

describe(
  'searches on a server with Elasticsearch',
  await needsElasticsearch(takesMinutes('searches during edits and rebuilds on Elasticsearch')),
  () => {
    beforeAll(async () => {
      elasticsearch = await elasticsearchUrl();
      server = await startServer({
        ...{ data, contentTypes: 'examples/restaurants' },
        arguments: ['--examples', '--read-index', elasticsearch, '--space', space],
      });
    }, 300_000);
    afterAll(async () => {
      await server?.dispose();
      rmSync(data, { recursive: true, force: true });
      if (elasticsearch !== undefined) await removeIndices(elasticsearch, space);
    });

    it('find an edit as soon as the write is answered, also an edit of a related entry', async () => {
      const city = await write('POST', 'cities', { name: 'Quaggaville', slug: 'quaggaville' });
      const base = { priceLevel: 'budget', city };
      for (let n = 0; n < 5; n++) {
        const id = await write('POST', 'restaurants', {
          ...base,
          name: `Zanzibar ${n}`,
          slug: `entry-${n}`,
        });
        expect(await namesOf('search=zanzibar')).toEqual([`Zanzibar ${n}`]);
        await write('PUT', `restaurants/${id}`, { name: `Vermilion ${n}` });
        expect(await namesOf('search=zanzibar')).toEqual([]);
        expect(await namesOf('search=vermilino')).toEqual([`Vermilion ${n}`]);
        await write('PUT', `cities/${city}`, { name: `Quagga ${n}` });
        const counted = await answer('/api/restaurants?search=vermilion&facets=city.name');
        expect(counted).toContain(`"facets":{"city.name":{"Quagga ${n}":1}}`);
        await write('POST', `restaurants/${id}/actions/unpublish`);
        expect(await namesOf('search=vermilion')).toEqual([]);
        expect(await namesOf('search=vermilion&status=draft')).toEqual([`Vermilion ${n}`]);
        await write('DELETE', `restaurants/${id}`);
        expect(await namesOf('search=vermilion&status=draft')).toEqual([]);
      }
    }, 300_000);

    it('have the same answers and no errors during a hand-over to a rebuild', async () => {
      const before = await answers();
      for (const each of before) expect(each.slice(0, 4)).toBe('200 ');
      let isOver = false;
      let asked = 0;
      const searching = (async () => {
        while (!isOver) {
          expect(await answers()).toEqual(before);
          asked++;
        }
      })();
      const own = ['--data', data, '--read-index', elasticsearch, '--space', space];
      const rebuilding = runVarve(['rebuild', '--graph', ...own]).finally(() => {
        isOver = true;
      });
      const [rebuilt] = await Promise.all([rebuilding, searching]);
      expect(rebuilt).toMatchObject({ code: 0, stdout: expect.stringContaining('generation 2 is live') });
      expect(asked).toBeGreaterThan(3);
      expect(await answers()).toEqual(before);
    }, 300_000);
  },
);
