import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAsk, createTokenOver } from '../support/access-client.ts';
import { algoliaClient } from '../support/algolia-client.ts';
import type { RunningServer } from '../support/server.ts';

type Hit = {
  readonly _rankingInfo?: object;
  readonly objectID: string;
  readonly name: string;
  readonly _highlightResult: Readonly<Record<string, unknown>>;
  readonly _snippetResult?: Readonly<Record<string, unknown>>;
} & Readonly<Record<string, unknown>>;
type Result = {
  readonly hits: readonly Hit[];
  readonly nbHits: number;
  readonly nbPages: number;
  readonly page: number;
  readonly hitsPerPage: number;
  readonly facets?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly facets_stats?: Readonly<Record<string, object>>;
  readonly facetHits?: readonly object[];
  readonly params: string;
};

/** Tests Algolia's protocol with unmodified clients, on a server with the example. */
export function describeInstantSearch(start: () => Promise<RunningServer>): void {
  let server: RunningServer;

  beforeAll(async () => {
    server = await start();
  }, 300_000);
  afterAll(() => server?.dispose());

  /** Sends one query with an unmodified client. */
  async function search(params: object, indexName = 'restaurants'): Promise<Result> {
    const { results } = await algoliaClient(server.url).search([{ indexName, params }]);
    return results[0] as Result;
  }

  async function refusal(params: object, indexName = 'restaurants') {
    return search(params, indexName).then(
      () => 'it was accepted',
      ({ status, message }: { status: number; message: string }) => `${status} ${message}`,
    );
  }

  async function post(path: string, body: string, headers: Readonly<Record<string, string>> = {}) {
    const answer = await fetch(`${server.url}${path}`, { method: 'POST', body, headers });
    const json = (await answer.json()) as Result & { message?: string; status?: number };
    return { status: answer.status, headers: answer.headers, json };
  }

  const names = ({ hits }: Result) => hits.map(({ name }) => name);

  /** Writes an entry and publishes it. */
  async function write(data: object, path = 'restaurants'): Promise<string> {
    const answer = await fetch(`${server.url}/api/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ data }),
    });
    expect(answer.status).toBe(201);
    return ((await answer.json()) as { data: { documentId: string } }).data.documentId;
  }

  describe('a query of an unmodified client', () => {
    it('has hits with their attributes, pages from 0, and the members that a client reads', async () => {
      const result = await search({ query: 'casa mar', hitsPerPage: 2 });
      expect(result).toMatchObject({
        nbHits: 1,
        page: 0,
        nbPages: 1,
        hitsPerPage: 2,
        index: 'restaurants',
        query: 'casa mar',
        params: 'query=casa%20mar&hitsPerPage=2',
        exhaustiveNbHits: true,
        exhaustiveFacetsCount: true,
        renderingContent: {},
        processingTimeMS: expect.any(Number),
      });
      const [hit] = result.hits;
      expect(hit).toMatchObject({ objectID: hit?.['documentId'], name: 'Casa da Maré', stars: 1 });
      expect(hit).not.toHaveProperty('internalNote');
      expect(result).not.toHaveProperty('facets');
    });

    it('has pages without overlap, and no entries after the last page', async () => {
      const all = names(await search({ hitsPerPage: 100 }));
      const pages = await Promise.all([0, 1, 2].map((page) => search({ hitsPerPage: 3, page })));
      expect(pages.flatMap(names)).toEqual(all.slice(0, 9));
      expect(pages[0]?.nbPages).toBe(Math.ceil(all.length / 3));
      expect(names(await search({ hitsPerPage: 3, page: 1_000 }))).toEqual([]);
      expect(await search({ hitsPerPage: 3, page: 900_000_000 })).toMatchObject({
        hits: [],
        nbHits: all.length,
      });
      expect(await search({ hitsPerPage: 0 })).toMatchObject({ hits: [], nbHits: all.length, nbPages: 0 });
    });

    it('marks matches and escapes nothing', async () => {
      const id = await write({ name: 'Zebra <b>& Sons', slug: 'zebra-sons', priceLevel: 'budget' });
      const [hit] = (await search({ query: 'zebr', attributesToHighlight: ['name', 'priceLevel'] })).hits;
      expect(hit?.objectID).toBe(id);
      expect(hit?._highlightResult).toEqual({
        name: {
          value: '<em>Zebr</em>a <b>& Sons',
          matchLevel: 'full',
          fullyHighlighted: false,
          matchedWords: ['zebr'],
        },
        priceLevel: { value: 'budget', matchLevel: 'none', matchedWords: [] },
      });
      const tags = { highlightPreTag: '[', highlightPostTag: ']', attributesToSnippet: ['name:1'] };
      const [snippet] = (await search({ query: 'zebra sons nowhere', ...tags })).hits;
      expect(snippet?._snippetResult).toEqual({ name: { value: '[Zebra]…', matchLevel: 'full' } });
      await fetch(`${server.url}/api/restaurants/${id}`, { method: 'DELETE' });
      expect((await search({ query: 'zebra' })).nbHits).toBe(0);
    });

    it('finds words by their parts, and marks only the part, as the list endpoint does', async () => {
      const path = 'stories?locale=de';
      await write({ title: 'Kirschkuchen im Garten', slug: 'kirschkuchen' }, path);
      await write({ title: 'Die Kirsche, der Kuchen', slug: 'die-kirsche' }, path);
      const query = { query: 'kuchen ', attributesToHighlight: ['title'] };
      const { hits } = await search(query, 'stories/de');
      const titles = hits.map(({ _highlightResult }) => _highlightResult['title'] as { value: string });
      expect(titles.map(({ value }) => value)).toEqual([
        'Die Kirsche, der <em>Kuchen</em>',
        'Kirsch<em>kuchen</em> im Garten',
      ]);
      const listed = await fetch(`${server.url}/api/${path}&search=kuchen%20&highlight=title`);
      const { meta } = (await listed.json()) as {
        readonly meta: { readonly search: object; readonly highlights: Record<string, object> };
      };
      expect(Object.values(meta.highlights)).toEqual([
        { title: 'Die Kirsche, der <mark>Kuchen</mark>' },
        { title: 'Kirsch<mark>kuchen</mark> im Garten' },
      ]);
      expect(meta.search).toEqual({ terms: ['kuchen'], corrected: {} });
    });

    it('nests the values of named paths, in the hit and its highlights', async () => {
      const facets = ['city.name', 'cuisines.name'];
      const [hit] = (await search({ query: 'casa da maré', facets })).hits;
      expect(hit?.['city']).toMatchObject({ name: 'Lisbon' });
      expect(Object.keys(hit?.['city'] as object).sort()).toEqual(['documentId', 'id', 'name']);
      const cuisines = hit?.['cuisines'] as readonly { readonly name: string }[];
      expect(cuisines.length).toBeGreaterThan(0);
      const values = cuisines.map(({ name }) => ({
        name: { value: name, matchLevel: 'none', matchedWords: [] },
      }));
      expect(hit?._highlightResult['cuisines']).toEqual(values);
      const [whole] = (
        await search({ query: 'casa da maré', attributesToRetrieve: ['city', 'address.street'] })
      ).hits;
      expect(Object.keys(whole ?? {}).sort()).toEqual(['_highlightResult', 'address', 'city', 'objectID']);
      const [without] = (await search({ query: 'casa da maré', attributesToRetrieve: ['*', '-slug'] })).hits;
      expect(without).toMatchObject({ name: 'Casa da Maré' });
      expect(without).not.toHaveProperty('slug');
    });

    it('omits what is named with a minus, also behind a relation', async () => {
      const shown = async (names: readonly string[]) =>
        (await search({ attributesToRetrieve: names, hitsPerPage: 1 })).hits[0] ?? {};
      const all = await shown(['*', '-name']);
      expect([Object.keys(all).includes('slug'), Object.keys(all).includes('name')]).toEqual([true, false]);
      const { city } = (await shown(['city', '-city.name'])) as { city?: object };
      expect(Object.keys(city ?? {})).toContain('slug');
      expect(Object.keys(city ?? {})).not.toContain('name');
      const { cuisines } = (await shown(['cuisines.name', 'cuisines.slug', '-cuisines.slug'])) as {
        cuisines?: readonly object[];
      };
      expect(cuisines?.length).toBeGreaterThan(0);
      for (const each of cuisines ?? []) {
        expect(Object.keys(each)).toContain('name');
        expect(Object.keys(each)).not.toContain('slug');
      }
    });

    it('counts facets of all matches, with the statistics of numbers', async () => {
      const {
        facets,
        facets_stats: stats,
        nbHits,
      } = await search({ facets: ['city.name', 'stars', 'openedOn'] });
      const counted = Object.values(facets?.['stars'] ?? {}).reduce((sum, count) => sum + count, 0);
      expect(counted).toBe(nbHits);
      expect(facets?.['city.name']).toHaveProperty('Lisbon');
      expect(stats?.['stars']).toMatchObject({ min: 0, max: expect.any(Number), avg: expect.any(Number) });
      expect(stats?.['openedOn']).toHaveProperty('min', expect.any(Number));
      expect(stats).not.toHaveProperty(['city.name']);
      const few = await search({ facets: ['city.name'], maxValuesPerFacet: 1 });
      expect(Object.keys(few.facets?.['city.name'] ?? {})).toHaveLength(1);
      const every = await search({ facets: ['*'] });
      expect(Object.keys(every.facets ?? {}).sort()).toEqual([
        'openedOn',
        'priceLevel',
        'rating',
        'seats',
        'stars',
        'terrace',
      ]);
    });

    it('filters by all three parameters together', async () => {
      const all = (await search({ hitsPerPage: 100 })).hits;
      const wanted = all.filter(({ stars, rating }) => Number(stars) >= 1 && Number(rating) <= 4.7);
      const result = await search({
        filters: 'stars >= 1',
        numericFilters: ['rating <= 4.7'],
        hitsPerPage: 100,
      });
      expect(names(result).sort()).toEqual(wanted.map(({ name }) => name).sort());
      expect(wanted.length).toBeGreaterThan(0);
      const lisbon = await search({ facetFilters: [['city.name:Lisbon']] });
      const others = await search({ facetFilters: 'city.name:-Lisbon' });
      expect(lisbon.nbHits + others.nbHits).toBe(all.length);
      expect(lisbon.nbHits).toBeGreaterThan(0);
      expect((await search({ filters: `objectID:${all[0]?.objectID}` })).hits).toHaveLength(1);
    });

    it('sorts, and uses the locale of an index', async () => {
      const sorted = names(await search({ hitsPerPage: 100 }, 'restaurants:name:desc'));
      expect(sorted).toEqual([...sorted].sort().reverse());
      expect(await refusal({}, 'restaurants:nope:asc')).toMatch(/^400 Invalid key nope/);
      expect(await refusal({}, 'restaurants:name:up')).toMatch(/^400 Invalid order/);
      expect(await refusal({}, 'restaurants/not a locale')).toMatch(/^400 .*BCP 47/);
      expect(await refusal({}, 'dishes/*')).toMatch(/^400 Invalid locale \*/);
      const fr = await search({}, 'dishes/fr');
      const listed = await (
        await fetch(`${server.url}/api/dishes?locale=fr&pagination[pageSize]=100`)
      ).json();
      expect(fr.nbHits).toBe((listed as { meta: { pagination: { total: number } } }).meta.pagination.total);
    });

    it('restricts the searched attributes, and typos', async () => {
      expect((await search({ query: 'taberna', restrictSearchableAttributes: ['name'] })).nbHits).toBe(1);
      expect((await search({ query: 'taberna', restrictSearchableAttributes: ['tagline'] })).nbHits).toBe(0);
      expect((await search({ query: 'tabrena' })).nbHits).toBe(1);
      expect((await search({ query: 'tabrena', typoTolerance: false })).nbHits).toBe(0);
    });

    it('searches in the values of a facet', async () => {
      const { results } = await algoliaClient(server.url).search([
        {
          indexName: 'restaurants',
          type: 'facet',
          facet: 'city.name',
          params: { facetQuery: 'li', maxFacetHits: 1 },
        },
      ]);
      expect(results[0]).toMatchObject({
        facetHits: [{ value: 'Lisbon', highlighted: '<em>Li</em>sbon', count: expect.any(Number) }],
        exhaustiveFacetsCount: true,
      });
      const all = await post('/1/indexes/restaurants/facets/city.name/query', '{}');
      expect(all.json.facetHits?.length).toBeGreaterThan(2);
    });

    it("takes Algolia's parameters that only help a search", async () => {
      const helps = {
        removeWordsIfNoResults: 'lastWords',
        removeStopWords: true,
        ignorePlurals: ['en'],
        queryLanguages: ['en'],
        naturalLanguages: ['fr'],
        typoTolerance: 'min',
        queryType: 'prefixLast',
        mode: 'keywordSearch',
      };
      const plain = await search({ query: 'taberna' });
      const { hits } = await search({ query: 'taberna', ...helps });
      expect(hits.map(({ objectID }) => objectID)).toEqual(plain.hits.map(({ objectID }) => objectID));
    });

    it('matches only complete words with queryType prefixNone', async () => {
      expect((await search({ query: 'taber' })).nbHits).toBeGreaterThan(0);
      const complete = await search({ query: 'taber', queryType: 'prefixNone', typoTolerance: false });
      expect([complete.nbHits, (complete as { query?: string }).query]).toEqual([0, 'taber']);
      expect((await search({ query: '', queryType: 'prefixNone' })).nbHits).toBeGreaterThan(0);
    });

    it('says how each hit ranks, if a query asks for it', async () => {
      const [hit] = (await search({ query: 'casa mraé', getRankingInfo: true })).hits;
      expect(hit?._rankingInfo).toMatchObject({
        ...{ nbTypos: 1, firstMatchedWord: 0, proximityDistance: 2, nbExactWords: 2, words: 2, userScore: 0 },
        ...{ geoDistance: 0, filters: 0 },
      });
      expect(hit?._rankingInfo).toHaveProperty(
        'matchedWords',
        expect.arrayContaining([
          { typed: 'mraé', word: 'maré', how: 'typo', typos: 1, attribute: 'name', weight: 2 },
        ]),
      );
      expect((await search({ query: 'casa mraé' })).hits[0]).not.toHaveProperty('_rankingInfo');
    });

    it('answers a window of hits, and only the named members', async () => {
      const all = await search({ query: '', hitsPerPage: 10 });
      const some = await search({ query: '', offset: 3, length: 4 });
      expect(some).toMatchObject({ offset: 3, length: 4, nbHits: all.nbHits });
      expect(some.hits.map(({ objectID }) => objectID)).toEqual(
        all.hits.slice(3, 7).map(({ objectID }) => objectID),
      );
      expect(some.nbPages).toBeUndefined();
      const few = await search({ query: '', responseFields: ['hits', 'nbHits'] });
      expect(Object.keys(few).sort()).toEqual(['hits', 'nbHits']);
      expect(Object.keys(await search({ responseFields: ['*'] })).length).toBeGreaterThan(5);
    });

    it('suggests another query, and behind filters only if the query asks for it', async () => {
      const query = 'nowhere casa';
      expect(await search({ query })).toMatchObject({ nbHits: 0, suggestion: 'casa' });
      expect(await search({ query, facetFilters: [[]] })).toMatchObject({ suggestion: 'casa' });
      expect(await search({ query, responseFields: ['nbHits'] })).toEqual({ nbHits: 0 });
      const filters = 'stars >= 0';
      expect(await search({ query, filters })).not.toHaveProperty('suggestion');
      expect(await search({ query, filters, responseFields: ['suggestion'] })).toEqual({
        suggestion: 'casa',
      });
    });

    it('orders the values of a facet by name, and ends snippets with the named text', async () => {
      const ordered = await search({ facets: ['city.name'], sortFacetValuesBy: 'alpha' });
      const values = Object.keys(ordered.facets?.['city.name'] ?? {});
      expect(values).toEqual(values.toSorted());
      expect(values.length).toBeGreaterThan(2);
      const first = { facets: ['city.name'], sortFacetValuesBy: 'alpha', maxValuesPerFacet: 2 };
      expect(Object.keys((await search(first)).facets?.['city.name'] ?? {})).toEqual(values.slice(0, 2));
      const { hits } = await search({
        query: '',
        attributesToSnippet: ['tagline:1'],
        snippetEllipsisText: '[...]',
      });
      expect(JSON.stringify(hits[0]?._snippetResult)).toContain('[...]');
    });

    it('groups hits by the attribute that the content type names, and pages count groups', async () => {
      const all = (await search({ hitsPerPage: 100 })).hits;
      const groups = [...Map.groupBy(all, ({ priceLevel }) => priceLevel).values()];
      expect(groups.length).toBeGreaterThan(1);
      const two = await search({ distinct: 2, hitsPerPage: 1, page: 1, facets: ['priceLevel'] });
      expect(two).toMatchObject({ nbHits: groups.length, nbPages: groups.length });
      expect(names(two)).toEqual(groups[1]?.slice(0, 2).map(({ name }) => name));
      expect(two.hits.map(({ _distinctSeqID }) => _distinctSeqID)).toEqual([0, 1]);
      const counts = Object.values(two.facets?.['priceLevel'] ?? {});
      expect(counts.reduce((sum, each) => sum + each, 0)).toBe(all.length);
      const ones = await search({ distinct: true, hitsPerPage: 100 });
      expect(names(ones)).toEqual(groups.map(([first]) => first?.name));
      for (const distinct of [false, 0, 'false'])
        expect((await search({ distinct })).hits[0]).not.toHaveProperty('_distinctSeqID');
      const facet = { indexName: 'restaurants', type: 'facet', facet: 'priceLevel' } as const;
      const { results } = await algoliaClient(server.url).search([{ ...facet, params: { distinct: true } }]);
      expect((results[0] as Result).facetHits).toHaveLength(groups.length);
    });

    it('finds nothing by signs only', async () => {
      expect((await search({ query: '+++' })).nbHits).toBe(0);
      expect((await search({ query: ' ' })).nbHits).toBeGreaterThan(0);
    });

    it('ignores parameters that only rank or log, and refuses others with a message', async () => {
      const ranks = {
        analytics: true,
        clickAnalytics: true,
        userToken: 'u',
        ruleContexts: ['a'],
        tagFilters: '',
        insights: false,
        distinct: 'false',
      };
      for (const _ of [1, 2]) expect((await search(ranks)).nbHits).toBeGreaterThan(0);
      const logged = () => server.output().split('the parameter ruleContexts has no effect').length - 1;
      await expect.poll(logged).toBe(1);
      expect(await refusal({ aroundLatLng: '1,2' })).toMatch(
        /^400 The parameter 'aroundLatLng' needs the option geo/,
      );
      expect(await refusal({ distinct: 11 })).toMatch(/^400 .*'distinct'/);
      expect(await refusal({ distinct: true }, 'cities')).toMatch(/^400 .*needs the option distinct/);
      expect(await refusal({ insights: true })).toMatch(/^400 .*counts no events/);
      expect(await refusal({ foo: 1 })).toMatch(/^400 Unknown parameter 'foo'\. Expected query, queryType/);
      expect(await refusal({ page: -1 })).toMatch(/^400 Invalid parameter 'page': found -1/);
      expect(await refusal({ filters: 'name > 3' })).toMatch(/^400 .*name must be a number or a date/);
      expect(await refusal({ typoTolerance: 'maybe' })).toMatch(/^400 .*Expected true or false/);
      expect(await refusal({ queryType: 'suffix' })).toMatch(
        /^400 .*Expected prefixLast, prefixAll, prefixNone/,
      );
      expect(await refusal({ advancedSyntax: true })).toMatch(
        /^400 The parameter 'advancedSyntax' is not supp/,
      );
      expect(await refusal({ customRanking: ['desc(a)'] })).toMatch(
        /^400 .*is not supported: it is a setting/,
      );
      expect(await refusal({ facets: Array.from({ length: 21 }, (_, i) => `a${i}`) })).toMatch(
        /^400 .*at most 20/,
      );
    });
  });

  describe('the endpoints', () => {
    it('accept parameters as a query string, an object and members, with any content type', async () => {
      const wanted = (await search({ query: 'casa', hitsPerPage: 1, facets: ['stars'] })).hits[0]?.objectID;
      const params =
        'query=casa&hitsPerPage=1&facets=%5B%22stars%22%5D&facetFilters=%5B%5B%22city.name%3ALisbon%22%5D%5D';
      for (const body of [
        { params },
        { params: { query: 'casa' }, hitsPerPage: 1 },
        { query: 'casa', hitsPerPage: '1' },
      ])
        for (const type of ['text/plain', 'application/json', 'application/x-www-form-urlencoded']) {
          const { status, json } = await post('/1/indexes/restaurants/query', JSON.stringify(body), {
            'content-type': type,
          });
          expect([status, json.hits[0]?.objectID]).toEqual([200, wanted]);
        }
      const marked = await post('/1/indexes/restaurants/query', '\ufeff{"query":"casa"}');
      expect([marked.status, marked.json.hits[0]?.objectID]).toEqual([200, wanted]);
    });

    it('answer every error in the form {message, status}', async () => {
      const cases: readonly [path: string, body: string, status: number, message: RegExp][] = [
        ['/1/indexes/nope/query', '{}', 404, /^Index nope does not exist/],
        ['/1/indexes/restaurant/query', '{}', 404, /^Index restaurant does not exist/],
        ['/1/indexes/users/query', '{}', 404, /^Index users does not exist/],
        ['/1/indexes/restaurants/query', '{"query":', 400, /JSON/],
        ['/1/indexes/restaurants/query', '[]', 400, /must be a JSON object/],
        ['/1/indexes/restaurants/queries', '{"requests":[]}', 404, /each query names its index/],
        ['/1/indexes/*/queries', '{}', 400, /^Invalid parameter 'requests'/],
        ['/1/indexes/*/queries', '', 400, /must be a JSON object/],
        ['/1/indexes/*/queries', '{"requests":[{}]}', 400, /^Invalid parameter 'indexName'/],
        ['/1/indexes/*/queries', `{"requests":[${Array(51).fill('{"indexName":"a"}')}]}`, 400, /at most 50/],
        ['/1/indexes/*/queries', '{"requests":[],"strategy":"stopIfEnoughMatches"}', 400, /'strategy'/],
        ['/1/indexes/*/recommendations', '{}', 400, /recommends nothing/],
        ['/1/events', '{}', 400, /no events/],
        ['/1/nope', '{}', 404, /does not exist/],
        [
          '/1/indexes/restaurants:name:asc:/query',
          '{}',
          400,
          /^Invalid order name:asc: in the name of an index/,
        ],
        ['/1/indexes/restaurants:name:asc:x/query', '{}', 400, /^Invalid order/],
        ['/1/indexes/restaurants:/query', '{}', 400, /^Invalid order/],
        ['/1/indexes/restaurants:name:asc,/query', '{}', 400, /^Invalid order/],
        ['/1/indexes/restaurants%2F/query', '{}', 400, /^Invalid locale .*in the name of an index/],
        [
          '/1/indexes/restaurants/query',
          '{"filters":"stars:1","filters":""}',
          400,
          /^The member 'filters' is there twice/,
        ],
        [
          '/1/indexes/restaurants/query',
          '{"filters":"a:1","f\\u0069lters":""}',
          400,
          /'filters' is there twice/,
        ],
        [
          '/1/indexes/restaurants/query',
          '{"params":"filters=stars:1&filters="}',
          400,
          /'filters' is there twice/,
        ],
        ['/1/indexes/restaurants/query', '{"params":"filters=stars:1","filters":""}', 400, /is there twice/],
        [
          '/1/indexes/restaurants/query',
          '{"params":{"filters":"stars:1"},"filters":""}',
          400,
          /is there twice/,
        ],
        [
          '/1/indexes/restaurants/query',
          '{"__proto__":{"filters":"x"}}',
          400,
          /^Unknown parameter '__proto__'/,
        ],
        ['/1/indexes/restaurants/query', '{"__proto__":null}', 400, /^Unknown parameter '__proto__'/],
        ['/1/indexes/restaurants/query', '{"constructor":""}', 400, /^Unknown parameter 'constructor'/],
        [
          '/1/indexes/restaurants/query',
          `{"a":${'['.repeat(200)}${']'.repeat(200)}}`,
          400,
          /deeper than 100/,
        ],
        [
          '/1/indexes/restaurants/query?filters=stars:1',
          '{}',
          400,
          /^The parameter 'filters' belongs in the body/,
        ],
        ['/1/indexes/restaurants/query', '{"hitsPerPage":"0x10"}', 400, /'hitsPerPage'/],
        ['/1/indexes/restaurants/query', '{"hitsPerPage":-1}', 400, /'hitsPerPage'/],
        ['/1/indexes/restaurants/query', '{"attributesToHighlight":["-name"]}', 400, /^Invalid key -name/],
        ['/1/indexes/restaurants/query', '{"attributesToSnippet":["-name:3"]}', 400, /^Invalid key -name/],
        ['/1/indexes/restaurants/facets/name/query', '{"facet":"city.name"}', 400, /as in the path/],
        ['/1/indexes/restaurants/facets/name/query', '{"type":"default"}', 400, /^Invalid parameter 'type'/],
        ['/1/indexes/%zz/query', '{}', 400, /not a valid url/],
      ];
      for (const [path, body, status, message] of cases) {
        const { json, ...answer } = await post(path, body);
        expect([path, answer.status, Object.keys(json)]).toEqual([path, status, ['message', 'status']]);
        expect(json.message).toMatch(message);
        expect(json.status).toBe(status);
      }
      const zipped = await post('/1/indexes/restaurants/query', '{}', { 'content-encoding': 'gzip' });
      expect([zipped.status, zipped.json.message]).toEqual([
        400,
        expect.stringMatching(/Content-Encoding gzip/),
      ]);
      const got = await fetch(`${server.url}/1/indexes/restaurants/query`);
      expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
      expect(got.headers.get('cache-control')).toBe('no-store');
      expect(await got.json()).toMatchObject({ status: 405 });
    });

    it('admit pages of this machine in development mode, and no others', async () => {
      const path = '/1/indexes/restaurants/query?x-algolia-api-key=public&x-algolia-application-id=varve';
      const local = await post(path, '{}', { origin: 'http://localhost:5173' });
      expect(local.headers.get('access-control-allow-origin')).toBe('http://localhost:5173');
      expect(local.headers.get('vary')).toBe('Origin');
      const stranger = await post(path, '{}', { origin: 'https://evil.example' });
      expect([stranger.status, stranger.headers.get('access-control-allow-origin')]).toEqual([403, null]);
      expect(stranger.json).toMatchObject({ status: 403 });
      const preflight = await fetch(`${server.url}${path}`, {
        method: 'OPTIONS',
        headers: { origin: 'http://localhost:5173', 'access-control-request-method': 'POST' },
      });
      expect(preflight.headers.get('access-control-allow-headers')).toContain('x-algolia-api-key');
    });

    it('show an edit in the next answer', async () => {
      const id = await write({ name: 'Quagga House', slug: 'quagga-house', priceLevel: 'budget' });
      expect(names(await search({ query: 'quagga' }))).toEqual(['Quagga House']);
      await fetch(`${server.url}/api/restaurants/${id}/actions/unpublish`, { method: 'POST' });
      expect(names(await search({ query: 'quagga' }))).toEqual([]);
    });
  });

  // This is the last test, since its token ends development mode.
  it('shows the console at / and a search page only in development mode', async () => {
    const ask = createAsk(server.url);
    const start = await ask('/');
    expect(start.status).toBe(200);
    expect(start.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(start.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    expect(start.body).toContain('content="/search"');
    expect(start.body).not.toMatch(/(src|href)="(https?:)?\/\//);
    const files = [
      '/search',
      '/search/search.js',
      '/search/search.css',
      '/search/algoliasearch.js',
      '/search/instantsearch.js',
    ];
    for (const file of files) expect((await ask(file)).status, file).toBe(200);
    expect((await ask('/search/index.html')).status).toBe(404);
    expect(server.output()).toContain(`${server.url}/ in a browser`);
    expect(server.output()).toContain(`${server.url}/search in a browser: a search page`);
    await createTokenOver(ask, { name: 'all', type: 'full-access' });
    for (const path of ['/', ...files]) {
      const { status, body } = await ask(path);
      expect([path, status, body.error.name]).toEqual([path, 404, 'NotFoundError']);
    }
  });
}
