import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ask, createCallers } from '../../support/access-client.ts';
import type { RunningServer } from '../../support/server.ts';

/** Algolia's protocol gives the same answer for a name that is hidden from the caller as for one that does not exist. */
const ALLOW = ['restaurant.find', 'tag.find', 'article.find'];
const HIDDEN = [
  'internalNote',
  'secretPin',
  'createdBy',
  'localizations',
  'chef',
  'menu',
  'reviews',
  'logo',
  'gallery',
];
const UNKNOWN = 'nope';
/** Headers that differ between all answers, or that depend on the length of a name. */
const VARYING = ['date', 'x-request-id', 'content-length'];

/** Runs the suite on a server with the corpus. */
export function describeInstantLeaks(start: () => Promise<RunningServer>): void {
  let server: RunningServer;
  let ask: Ask;
  let askAll: Ask;
  let token: string;

  beforeAll(async () => {
    server = await start();
    ({ ask, askAll, token } = await createCallers(server.url, ALLOW));
  }, 300_000);

  afterAll(() => server?.dispose());

  const SURFACES: Readonly<Record<string, (name: string) => object>> = {
    filters: (name) => ({ filters: `${name}:1` }),
    'filters, negated': (name) => ({ filters: `NOT ${name}:1` }),
    'filters, numeric': (name) => ({ filters: `${name} > 1` }),
    'filters, behind it': (name) => ({ filters: `${name}.name:a` }),
    'filters at depth': (name) => ({ filters: `(name:x OR tags.restaurants.${name}:1)` }),
    facetFilters: (name) => ({ facetFilters: [[`name:x`, `${name}.name:-a`]] }),
    numericFilters: (name) => ({ numericFilters: [`${name}=1`] }),
    facets: (name) => ({ facets: ['name', name] }),
    'facets, behind it': (name) => ({ facets: [`${name}.name`] }),
    'values of a facet': (name) => ({ type: 'facet', facet: `${name}.name`, facetQuery: 'a' }),
    attributesToRetrieve: (name) => ({ attributesToRetrieve: ['name', name] }),
    'attributesToRetrieve, behind it': (name) => ({ attributesToRetrieve: [`${name}.name`] }),
    'attributesToRetrieve, left out': (name) => ({ attributesToRetrieve: ['*', `-${name}`] }),
    attributesToHighlight: (name) => ({ query: 'a', attributesToHighlight: [`tags.restaurants.${name}`] }),
    attributesToSnippet: (name) => ({ query: 'a', attributesToSnippet: [`${name}:5`] }),
    restrictSearchableAttributes: (name) => ({ query: 'a', restrictSearchableAttributes: [name] }),
  };

  async function answerOf(body: object, name: string, by: Ask = ask) {
    const answer = await by('/1/indexes/restaurants/query', { method: 'POST', body });
    return { status: answer.status, text: JSON.stringify(answer.body).replaceAll(name, '?') };
  }

  describe("what a caller may not reach by Algolia's protocol", () => {
    test.each(Object.entries(SURFACES))('%s', async (_surface, body) => {
      const unknown = await answerOf(body(UNKNOWN), UNKNOWN);
      expect(unknown.status).toBe(400);
      for (const name of HIDDEN) expect(await answerOf(body(name), name), name).toEqual(unknown);
    });

    test('a sort', async () => {
      const answers = await Promise.all(
        [UNKNOWN, ...HIDDEN].map(async (name) => {
          const { status, body } = await ask(`/1/indexes/restaurants:${name}:asc/query`, {
            method: 'POST',
            body: {},
          });
          return { status, text: JSON.stringify(body).replaceAll(name, '?') };
        }),
      );
      expect(answers[0]?.status).toBe(400);
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    });

    test('an index that is unknown, forbidden or internal to Varve', async () => {
      const answers = await Promise.all(
        ['nope', 'chefs', 'categories', 'users', 'files', 'homepage'].map(async (name) => {
          const { status, body } = await ask(`/1/indexes/${name}/query`, { method: 'POST', body: {} });
          return { status, text: JSON.stringify(body).replaceAll(name, '?') };
        }),
      );
      expect(answers[0]?.status).toBe(404);
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    });

    test('an index of one of several queries: none of the queries gets an answer', async () => {
      const queries = (name: string): readonly object[] => [
        { indexName: 'restaurants', facets: ['name'] },
        { indexName: name },
        { indexName: name, query: 'a', facets: ['name'], filters: 'name:a' },
        { indexName: name, type: 'facet', facet: 'name', facetQuery: 'a' },
        { indexName: `${name}:name:asc`, hitsPerPage: 0 },
        { indexName: `${name}/fr`, page: 3 },
        { indexName: name, filters: 'nope:1', attributesToRetrieve: ['nope'] },
      ];
      const answersTo = async (name: string) => {
        const [own, ...others] = queries(name);
        const lists = others.flatMap((other) => [
          [other],
          [own, other],
          [other, own],
          [own, own, other, other],
        ]);
        return Promise.all(
          lists.map(async (requests) => {
            const { status, headers, body } = await ask('/1/indexes/*/queries', {
              method: 'POST',
              body: { requests },
            });
            const kept = [...headers].filter(([header]) => !VARYING.includes(header));
            return { status, headers: kept, text: JSON.stringify(body).replaceAll(name, '?') };
          }),
        );
      };
      const unknown = await answersTo('chefz');
      expect(new Set(unknown.map(({ status }) => status))).toEqual(new Set([404]));
      for (const { text } of unknown) expect(Object.keys(JSON.parse(text))).toEqual(['message', 'status']);
      for (const name of ['chefs', 'users', 'files']) expect(await answersTo(name), name).toEqual(unknown);
    });

    test('is answered for callers with the right', async () => {
      const answered: string[] = [];
      for (const [surface, body] of Object.entries(SURFACES))
        if ((await answerOf(body('chef'), 'chef', askAll)).status === 200) answered.push(surface);
      // A relation itself cannot be a facet or a text.
      expect(answered).toContain('filters, behind it');
      expect(answered).toContain('values of a facet');
      expect(answered.length).toBeGreaterThan(6);
      const chefs = await askAll('/1/indexes/chefs/query', { method: 'POST', body: {} });
      expect(chefs.status).toBe(200);
    });

    test('texts that only drafts or private attributes have', async () => {
      const drafts = (await askAll('/api/restaurants?status=draft&filters[key]=r07')).body.data as {
        name: string;
      }[];
      const published = (await askAll('/api/restaurants?filters[key]=r07')).body.data as object[];
      expect([drafts.length, published.length]).toEqual([1, 0]);
      for (const by of [ask, askAll]) {
        const { text } = await answerOf({ query: drafts[0]?.name, filters: 'key:r07' }, UNKNOWN, by);
        expect(JSON.parse(text)).toMatchObject({ nbHits: 0 });
      }
    });
  });

  describe('keys', () => {
    const post = (query: string, headers: Readonly<Record<string, string>> = {}) =>
      fetch(`${server.url}/1/indexes/restaurants/query${query}`, { method: 'POST', body: '{}', headers });

    test('are read from the query string or a header', async () => {
      expect((await post(`?x-algolia-api-key=${token}&x-algolia-application-id=varve`)).status).toBe(200);
      expect((await post('', { 'x-algolia-api-key': token })).status).toBe(200);
      expect((await post('', { authorization: `Bearer ${token}` })).status).toBe(200);
    });

    test('that are longer than any token, or empty, are invalid too', async () => {
      const long = 'a'.repeat(3_000);
      for (const query of [
        `?x-algolia-api-key=${long}`,
        '?x-algolia-api-key=',
        `?x-algolia-api-key=${token}${long}`,
      ])
        expect((await post(query)).status, query.slice(0, 40)).toBe(401);
      expect((await post('', { 'x-algolia-api-key': long })).status).toBe(401);
    });

    test('that expire between two queries of a page are a 401', async () => {
      const { body } = await askAll('/_varve/tokens', {
        method: 'POST',
        body: {
          data: {
            ...{ name: 'short', type: 'custom', allow: ['restaurant.find'] },
            expires: new Date(Date.now() + 5_000).toISOString(),
          },
        },
      });
      const key = `?x-algolia-api-key=${body.data.accessKey}`;
      const first = await post(key);
      expect(first.status).toBe(200);
      await expect.poll(async () => (await post(key)).status).toBe(401);
      const last = await post(key);
      expect(await last.json()).toEqual({ message: expect.any(String), status: 401 });
    });

    test('that are wrong are a 401, and `public` is a caller without a token', async () => {
      const wrong = await post('?x-algolia-api-key=wrong');
      expect(wrong.status).toBe(401);
      expect(await wrong.json()).toEqual({ message: expect.any(String), status: 401 });
      const without = await post('?x-algolia-api-key=public');
      expect(without.status).toBe(404);
      expect(await without.json()).toMatchObject({ message: expect.stringContaining('does not exist') });
    });
  });
}
