import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';

/** A path through as many relations as a filter can nest. */
const DEEP = Array.from({ length: 9 }, () => 'city.restaurants').join('.');

type Meta = {
  readonly pagination: { readonly total: number; readonly nextCursor?: string | null };
  readonly search?: {
    readonly terms: readonly string[];
    readonly corrected: Readonly<Record<string, string>>;
    readonly suggestion?: string;
  };
  readonly explain?: {
    readonly search?: {
      readonly hits: readonly { readonly words: readonly Readonly<Record<string, unknown>>[] }[];
    };
  };
  readonly facets?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly facetStats?: Readonly<Record<string, object>>;
  readonly groups?: readonly object[];
  readonly highlights?: Readonly<Record<string, Readonly<Record<string, string>>>>;
};
type Level = { readonly priceLevel: string };
type Entry = { readonly documentId: string; readonly name: string };
type Body = {
  readonly data: readonly Entry[];
  readonly meta: Meta;
  readonly error: { readonly name: string; readonly message: string; readonly details: Details };
};
type SuggestBody = {
  readonly data: { readonly words: readonly object[]; readonly titles: readonly object[] };
  readonly meta: object;
};
type Details = {
  readonly param: string;
  readonly path?: string | null;
  readonly found: unknown;
  readonly accepted: unknown;
};

let server: RunningServer;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'varve-search-'));
  const file = join(folder, 'synonyms.json');
  writeFileSync(file, JSON.stringify({ 'api::restaurant.restaurant': { en: [['taberna', 'wine bar']] } }));
  server = await startServer({
    contentTypes: 'examples/restaurants',
    arguments: ['--examples', '--synonyms', file],
  });
});
afterAll(async () => {
  await server?.dispose();
  rmSync(folder, { recursive: true });
});

async function ask(query: string): Promise<Body & { readonly status: number }> {
  const answer = await fetch(`${server.url}/api/restaurants?${query}`);
  return { status: answer.status, ...((await answer.json()) as Body) };
}

async function names(query: string): Promise<readonly string[]> {
  return (await ask(query)).data.map(({ name }) => name);
}

async function write(method: string, path: string, data?: object): Promise<Entry> {
  const answer = await fetch(`${server.url}/api/restaurants${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(data === undefined ? {} : { body: JSON.stringify({ data }) }),
  });
  const text = await answer.text();
  expect(answer.status, text).toBeLessThan(300);
  return text === '' ? { documentId: '', name: '' } : (JSON.parse(text) as { data: Entry }).data;
}

describe('search', () => {
  it('finds words, prefixes, stems and words with typos', async () => {
    expect(await names('search=taberna')).toEqual(['Taberna do Rio']);
    expect(await names('search=taber')).toEqual(['Taberna do Rio']);
    expect(await names('search=pizza ')).toEqual(['Da Carmela']);
    expect(await names('search=casa mare')).toEqual(['Casa da Maré']);
    const { data, meta } = await ask('search=tabrena');
    expect(data.map(({ name }) => name)).toEqual(['Taberna do Rio']);
    expect(meta.search).toEqual({ terms: ['tabrena'], corrected: { tabrena: 'taberna' } });
    expect(await names('search=tabrena&typoTolerance=false')).toEqual([]);
  });

  it('suggests another query if nothing or little is found, with a similar word or without a word', async () => {
    const suggestionFor = async (query: string) => (await ask(`search=${query}`)).meta.search?.suggestion;
    expect(await suggestionFor('nowhere casa')).toBe('casa');
    expect(await suggestionFor('rii ')).toBe('rio');
    expect(await suggestionFor('taberna rii ')).toBe('taberna rio');
    expect(await suggestionFor('rii &typoTolerance=false')).toBeUndefined();
    expect(await suggestionFor('rii &filters[name]=Da Carmela')).toBeUndefined();
    expect(await suggestionFor('casa')).toBeUndefined();
  });

  it('explains each hit: its words and how they match, and what was dropped and corrected', async () => {
    const { meta } = await ask('search=casa the mraé nowhere&explain=true');
    const { search } = meta.explain ?? {};
    expect(search).toMatchObject({
      ...{ terms: ['casa', 'mraé'], stopWords: ['the'], dropped: ['nowhere'], corrected: { mraé: 'maré' } },
      hits: [{ typos: 1, distance: 2, exact: 2 }],
    });
    const words = search?.hits[0]?.words.filter(({ attribute }) => attribute === 'name');
    expect(words).toEqual([
      { typed: 'casa', word: 'casa', how: 'exact', typos: 0, attribute: 'name', weight: 2 },
      { typed: 'mraé', word: 'maré', how: 'typo', typos: 1, attribute: 'name', weight: 2 },
    ]);
    const kinds = async (query: string) => {
      const explained = (await ask(`search=${query}&explain=true`)).meta.explain?.search;
      return explained?.hits.flatMap((hit) => hit.words.map(({ word, how }) => `${word} ${how}`));
    };
    expect(await kinds('wine bar rio')).toContain('taberna synonym');
    expect(await kinds('tab')).toContain('taberna prefix');
    expect((await ask('filters[name]=x&explain=true')).meta.explain).not.toHaveProperty('search');
  });

  it('completes words and titles, with the counts of facets, as the list finds them', async () => {
    const suggest = async (query: string) => {
      const answer = await fetch(`${server.url}/api/restaurants/_suggest?${query}`);
      const { headers, status } = answer;
      return { status, etag: headers.get('etag'), ...((await answer.json()) as SuggestBody) };
    };
    const { data, meta, etag } = await suggest('q=casa mar&facets=city.name');
    expect(data).toEqual({
      words: [{ text: 'casa maré', count: 1 }],
      titles: [
        {
          documentId: expect.any(String),
          title: 'Casa da Maré',
          highlighted: '<mark>Casa</mark> da <mark>Mar</mark>é',
        },
      ],
    });
    expect(meta).toEqual({
      total: 1,
      search: { terms: ['casa', 'mar'], corrected: {} },
      facets: { 'city.name': { Lisbon: 1 } },
      facetStats: {},
    });
    expect(etag).toMatch(/^(W\/)?"/);
    expect((await suggest('q=casa mar&filters[name]=Da Carmela')).data).toEqual({ words: [], titles: [] });
    expect((await suggest('q=')).data).toEqual({ words: [], titles: [] });
    expect((await suggest('q=a&limit=2')).data.titles).toHaveLength(2);
    for (const wrong of [
      'q=a&limit=21',
      'q=a&populate=*',
      `q=${'a'.repeat(513)}`,
      'q=a&search=b',
      'q=a&%zz=1',
    ])
      expect((await suggest(wrong)).status, wrong).toBe(400);
  });

  it('finds and marks synonyms of the file, of one word or several', async () => {
    expect(await names('search=wine bar rio')).toEqual(['Taberna do Rio']);
    const { meta } = await ask('search=wine bar &highlight=name');
    expect(meta.search?.terms).toEqual(['wine', 'bar']);
    expect(Object.values(meta.highlights ?? {})).toEqual([{ name: '<mark>Taberna</mark> do Rio' }]);
  });

  it('omits the last words until a row has the other words', async () => {
    const { meta } = await ask('search=casa chilhuacle nowhere');
    expect(meta.search?.terms).toEqual(['casa', 'chilhuacle']);
    expect(meta.pagination.total).toBe(1);
  });

  it('works together with filters, sort and pages, and counts exactly', async () => {
    const all = await ask('search=a&pagination[pageSize]=100');
    const sorted = await names('search=a&sort=name:desc&pagination[pageSize]=100');
    expect(sorted).toEqual(
      all.data
        .map(({ name }) => name)
        .sort()
        .reverse(),
    );
    expect(all.data.length).toBeGreaterThan(2);
    expect(all.meta.pagination.total).toBe(all.data.length);
    const [first] = all.data;
    expect(await names(`search=a&filters[name]=${first?.name}`)).toEqual([first?.name]);
    expect(await names('search=a&pagination[start]=1&pagination[limit]=2')).toEqual(
      all.data.slice(1, 3).map(({ name }) => name),
    );
  });

  it('pages by cursor in the order of relevance', async () => {
    const all = await names('search=a&pagination[pageSize]=100');
    const walked: string[] = [];
    for (let cursor: string | null | undefined = ''; cursor !== null && cursor !== undefined; ) {
      const { data, meta } = await ask(`search=a&pagination[pageSize]=2&pagination[cursor]=${cursor}`);
      walked.push(...data.map(({ name }) => name));
      cursor = meta.pagination.nextCursor;
    }
    expect(walked).toEqual(all);
    const { meta } = await ask('search=a&pagination[pageSize]=2&pagination[cursor]=');
    const other = await ask(`search=b&pagination[cursor]=${meta.pagination.nextCursor}`);
    expect([other.status, other.error.message]).toEqual([400, 'This cursor belongs to another query']);
  });

  it('finds an edit in its world as soon as the write is answered', async () => {
    const base = { slug: 'zanzibar-one', priceLevel: 'budget' };
    const { documentId } = await write('POST', '?status=draft', { ...base, name: 'Quixotic Zanzibar' });
    expect(await names('search=quixotic')).toEqual([]);
    expect(await names('search=quixotic&status=draft')).toEqual(['Quixotic Zanzibar']);
    await write('POST', `/${documentId}/actions/publish`);
    expect(await names('search=quixotic')).toEqual(['Quixotic Zanzibar']);
    await write('PUT', `/${documentId}`, { name: 'Vermilion Zanzibar' });
    expect(await names('search=quixotic')).toEqual([]);
    expect(await names('search=vermilion')).toEqual(['Vermilion Zanzibar']);
    await write('POST', `/${documentId}/actions/unpublish`);
    expect(await names('search=vermilion')).toEqual([]);
    await write('DELETE', `/${documentId}`);
    expect(await names('search=vermilion&status=draft')).toEqual([]);
  });

  it('finds nothing by signs only, and ignores a search without any', async () => {
    const answer = async (query: string) =>
      (await fetch(`${server.url}/api/restaurants?${query}`)).json() as Promise<{ readonly data: unknown[] }>;
    for (const signs of ['...', '%2B%2B%2B', '%F0%9F%8E%89'])
      expect(await answer(`search=${signs}&facets=stars&highlight=name`)).toMatchObject({
        data: [],
        meta: { pagination: { total: 0 } },
      });
    const plain = await answer('');
    for (const nothing of ['', '%20', '%E2%80%8B']) expect(await answer(`search=${nothing}`)).toEqual(plain);
  });
});

describe('facets', () => {
  it('count filtered rows, through relations and components', async () => {
    const paths = ['city.name', 'stars', 'cuisines.name', 'address.district', 'priceLevel', 'terrace'];
    paths.push('city.country.cities.restaurants.chef.awards.title');
    paths.push(`${DEEP.slice('city.restaurants.'.length)}.cuisines.parent.name`);
    const { meta } = await ask(`facets=${paths.join(',')}`);
    for (const path of paths) {
      const counts = Object.entries(meta.facets?.[path] ?? {});
      expect(counts.length, path).toBeGreaterThan(1);
      for (const [value, count] of counts) {
        const filter = path
          .split('.')
          .map((name) => `[${name}]`)
          .join('');
        const found = await ask(`filters${filter}[$eq]=${encodeURIComponent(value)}&fields=name`);
        expect(count, `${path} ${value}`).toBe(found.meta.pagination.total);
      }
    }
    expect(meta.facetStats?.['stars']).toMatchObject({ min: 0 });
  });

  it('count all matches of a search, for any page', async () => {
    const [page, all] = [
      await ask('search=a&facets=stars&pagination[pageSize]=1'),
      await ask('search=a&facets=stars'),
    ];
    expect(page.meta.facets).toEqual(all.meta.facets);
    const counted = Object.values(all.meta.facets?.['stars'] ?? {}).reduce((sum, count) => sum + count, 0);
    expect(counted).toBe(all.meta.pagination.total);
  });

  it('accept limits, ranges and texts to search for', async () => {
    const { meta } = await ask(
      'facets[seats][ranges]=..40,40..60,60..&facets[openedOn][ranges]=2000-01-01..&facets[city.name][search]=li&facets[cuisines.name][limit]=1',
    );
    const total = meta.pagination.total;
    expect(Object.values(meta.facets?.['seats'] ?? {}).reduce((sum, count) => sum + count, 0)).toBe(total);
    const since = (await ask('filters[openedOn][$gte]=2000-01-01')).meta.pagination.total;
    expect(meta.facets?.['openedOn']).toEqual({ '2000-01-01..': since });
    expect(Object.keys(meta.facets?.['city.name'] ?? {})).toEqual(['Lisbon']);
    expect(Object.keys(meta.facets?.['cuisines.name'] ?? {})).toHaveLength(1);
  });
});

describe('highlights', () => {
  it('mark matches in escaped text', async () => {
    const base = {
      slug: 'tags-one',
      priceLevel: 'budget',
      tagline: 'Soup & <b>bread</b> all day, every day of the year',
    };
    const { documentId } = await write('POST', '', { ...base, name: 'Marked' });
    const { meta } = await ask('search=bred&highlight=tagline,name');
    expect(meta.highlights?.[documentId]).toEqual({
      tagline: 'Soup &amp; &lt;b&gt;<mark>bread</mark>&lt;/b&gt; all day, every day of the year',
      name: 'Marked',
    });
    const snippet = await ask(
      'search=bread&highlight[tagline][snippet]=3&highlightPreTag=<em>&highlightPostTag=</em>',
    );
    expect(snippet.meta.highlights?.[documentId]).toEqual({
      tagline: '…b&gt;<em>bread</em>&lt;/b…',
    });
    await write('DELETE', `/${documentId}`);
  });
});

describe('groups', () => {
  const shown = (found: Body) => (found.data as readonly (Entry & Level)[]).map(({ name }) => name);

  it('show the first entries of each value with their numbers, and pages count groups', async () => {
    const all = (await ask('sort=name&pagination[pageSize]=100')).data as readonly (Entry & Level)[];
    const levels = [...Map.groupBy(all, ({ priceLevel }) => priceLevel)];
    expect(levels.length).toBeGreaterThan(1);
    const found = await ask('sort=name&distinct=priceLevel&facets=priceLevel&explain=true');
    expect(shown(found)).toEqual(levels.map(([, [first]]) => first?.name));
    expect(found.meta).toMatchObject({
      groups: levels.map(([value, { length }]) => ({ value, count: length, hits: 1 })),
      facets: { priceLevel: Object.fromEntries(levels.map(([value, { length }]) => [value, length])) },
      pagination: { total: levels.length },
      explain: { groups: { field: 'priceLevel', limit: 1 } },
    });
    const two = await ask('sort=name&distinct[priceLevel][limit]=2&pagination[pageSize]=1&fields=name');
    expect(shown(two)).toEqual(levels[0]?.[1].slice(0, 2).map(({ name }) => name));
    expect(two.meta.pagination).toMatchObject({ total: levels.length, pageCount: levels.length });
    const uncounted = await ask('sort=name&distinct=priceLevel&pagination[withCount]=false');
    expect(shown(uncounted)).toEqual(shown(found));
    expect(uncounted.meta.pagination).not.toHaveProperty('total');
  });

  it('work together with filters, words, highlights and populate', async () => {
    const query = 'search=s&filters[stars][$gte]=0&highlight=tagline&populate=city';
    const all = (await ask(`${query}&pagination[pageSize]=100`)).data as readonly (Entry & Level)[];
    const firsts = [...Map.groupBy(all, ({ priceLevel }) => priceLevel).values()].map(([first]) => first);
    expect(firsts.length).toBeGreaterThan(1);
    const { data, meta } = await ask(`${query}&distinct=priceLevel`);
    expect(data).toEqual(firsts);
    expect(meta).toHaveProperty('search');
    expect(meta).toHaveProperty('highlights');
  });

  it.each([
    ['distinct=priceLevel,name', "Invalid parameter at 'distinct'. Expected one attribute"],
    ['distinct=unheard', 'Invalid key unheard'],
    ['distinct=internalNote', 'Invalid key internalNote'],
    ['distinct=city.name', 'Invalid key city.name'],
    ['distinct[priceLevel][by]=2', 'Invalid key by at priceLevel'],
    [
      'distinct[priceLevel][limit]=11',
      "Invalid parameter at 'distinct[priceLevel][limit]'. Expected a whole number from 1 to 10",
    ],
    ['distinct=priceLevel&pagination[cursor]=', 'A list with distinct has no cursors'],
  ])('refuse %s', async (query, message) => {
    const { status, error } = await ask(query);
    const { param, accepted } = error.details;
    expect({ status, name: error.name, message: error.message, param }).toEqual({
      ...{ status: 400, name: 'ValidationError', message, param: 'distinct' },
    });
    expect(String(accepted)).not.toContain('internalNote');
  });
});

describe('refusals', () => {
  it.each([
    ['search[a]=b', 'search', "Invalid parameter at 'search'. Expected text of at most 512 characters"],
    [
      `search=${'a'.repeat(513)}`,
      'search',
      "Invalid parameter at 'search'. Expected text of at most 512 characters",
    ],
    ['typoTolerance=maybe', 'typoTolerance', "Invalid parameter at 'typoTolerance'. Expected true or false"],
    ['facets=nope', 'facets', 'Invalid key nope'],
    ['facets=internalNote', 'facets', 'Invalid key internalNote'],
    ['facets=chef.nope', 'facets', 'Invalid key nope at chef'],
    [`facets=${'city.restaurants.'.repeat(9)}nope`, 'facets', `Invalid key nope at ${DEEP}`],
    ['facets=city', 'facets', 'Invalid key city'],
    ['facets=description', 'facets', 'Invalid key description'],
    [
      `facets=${'a.'.repeat(20)}b`,
      'facets',
      "Invalid parameter at 'facets'. Expected a path of at most 19 relations and components",
    ],
    [`facets=${Array.from({ length: 21 }, (_, i) => `x${i}`).join(',')}`, 'facets', 'Invalid key x0'],
    [
      `facets=${Array(21).fill('stars').join(',')}`,
      'facets',
      "Invalid parameter at 'facets'. Expected at most 20 facets",
    ],
    [
      'facets[stars][limit]=0',
      'facets',
      "Invalid parameter at 'facets[stars][limit]'. Expected a whole number from 1 to 1000",
    ],
    ['facets[stars][by]=0', 'facets', 'Invalid key by at stars'],
    [
      'facets[stars][order]=size',
      'facets',
      "Invalid parameter at 'facets[stars][order]'. Expected count or name",
    ],
    [
      'facets[stars][ranges]=1-2',
      'facets',
      "Invalid parameter at 'facets[stars][ranges]'. Expected up to 50 ranges such as 0..10,10..20,20..",
    ],
    [
      'facets[slug][ranges]=a..b',
      'facets',
      "Invalid parameter at 'facets[slug][ranges]'. Expected ranges of a number or a date",
    ],
    ['highlight=stars', 'highlight', 'Invalid key stars'],
    ['highlight=internalNote', 'highlight', 'Invalid key internalNote'],
    [
      'highlight[name][snippet]=0',
      'highlight',
      "Invalid parameter at 'highlight[name][snippet]'. Expected a whole number from 1 to 200",
    ],
  ])('%s', async (query, param, message) => {
    const { status, error } = await ask(query);
    expect({ status, name: error.name, message: error.message, param: error.details.param }).toEqual({
      ...{ status: 400, name: 'ValidationError', message, param },
    });
    expect(error.details).toHaveProperty('found');
    expect(error.details).toHaveProperty('accepted');
  });

  it('reveals nothing of private attributes', async () => {
    // Only an internal note contains this word.
    const { data, meta } = await ask('search=oysters');
    expect(data).toEqual([]);
    expect((await ask('search=oystres')).meta.search?.corrected).toEqual({});
    expect(meta.pagination.total).toBe(0);
  });
});
