import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SearchRequest, SortKey } from '../../shared/read-index/read-index.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { createTestIndices, type TestIndex, type TestIndices } from '../support/elasticsearch-index.ts';
import { AUTHOR, BOOK, libraryRegistry, row, TAG, TOWN } from './read-index-library.ts';

const ROWS = 2_600;
const registry = libraryRegistry();

/** Returns tags whose weights repeat. Every tenth has none. Ids decrease while keys increase. */
function tags(count: number, position: bigint) {
  const rows = Array.from({ length: count }, (_, i) => {
    const weight = i % 10 === 0 ? {} : { weight: i % 7 };
    return {
      type: TAG,
      version: 'live',
      key: i + 1,
      row: row(registry, TAG, { id: ROWS - i, ...weight }),
    } as const;
  });
  return { position, rows, links: [] };
}

describe('pages at great offsets on Elasticsearch', await needsElasticsearch(), () => {
  let indices: TestIndices;
  let index: TestIndex;

  beforeAll(async () => {
    indices = await createTestIndices(registry);
    index = await indices.open();
    await index.apply(tags(ROWS, 1n));
  }, 180_000);
  afterAll(() => indices?.remove());

  const search = async (more: Partial<SearchRequest>) => {
    const answer = {};
    const request: SearchRequest = {
      ...{ type: TAG, world: 'published', query: { kind: 'match_all' }, sort: [] },
      ...{ from: 0, size: 25, withTotal: true, answer },
      ...more,
    };
    const { total, hits } = await index.search(request);
    const { requests } = await index.reader.explain(request);
    const ids = hits.sources.map((source) => JSON.parse(Buffer.from(source).toString()).id as number);
    return { total, ids, requests: requests.length };
  };

  const sorts: readonly (readonly SortKey[])[] = [
    [],
    [{ path: [], field: 'weight', direction: 'asc' }],
    [{ path: [], field: 'weight', direction: 'desc' }],
  ];

  it.each(sorts)(
    'have the same rows as the whole list at that offset, read from either end: %o',
    async (...sort) => {
      const all = await search({ sort, size: ROWS + 10 });
      expect(all.ids).toHaveLength(ROWS);
      for (const from of [0, 1990, 2000, 2100, 2575, 2590, 2599, 2600, 9000]) {
        const page = await search({ sort, from });
        expect([from, page.ids, page.total]).toEqual([from, all.ids.slice(from, from + 25), ROWS]);
      }
      expect((await search({ sort, from: 2500, withTotal: false })).total).toBeUndefined();
    },
  );

  it('count the matches once, and are right after rows were added or removed', async () => {
    const query = { kind: 'exists', field: 'id' } as const;
    expect((await search({ query, from: 2590 })).requests).toBe(2);
    expect((await search({ query, from: 2580 })).requests).toBe(1);
    const gone = { type: TAG, version: 'live', row: null } as const;
    const dropped = Array.from({ length: 15 }, (_, i) => ({ ...gone, key: ROWS - i }));
    await index.apply({ position: 2n, rows: dropped, links: [] });
    const page = await search({ query, from: 2580 });
    expect(page).toMatchObject({ total: ROWS - 15, requests: 2 });
    expect(page.ids).toEqual([2596, 2597, 2598, 2599, 2600]);
    expect(await search({ query, from: 2590 })).toMatchObject({ total: ROWS - 15, ids: [] });
  });
});

/** Returns 400 towns, and authors 1, 2 and 3 of towns 3, 2 and 1. */
function townsAndAuthors() {
  const rows = Array.from({ length: 400 }, (_, i) => {
    const values = { id: i + 1, name: `town ${i % 3}` };
    return { type: TOWN, version: 'live', key: i + 1, row: row(registry, TOWN, values) } as const;
  });
  const authors = [1, 2, 3].map((key) => {
    const values = { id: key, name: `author ${key}` };
    return { type: AUTHOR, version: 'published', key, row: row(registry, AUTHOR, values) } as const;
  });
  const links = authors.map(({ key }) => ({
    ...{ rowSet: { type: AUTHOR, path: [] }, attribute: 'home', world: 'published' as const },
    ...{ source: key, target: 4 - key, order: { sourceOrder: 1, targetOrder: 1 } },
  }));
  return { position: 1n, rows: [...rows, ...authors], links };
}

describe('limits on Elasticsearch', await needsElasticsearch(), () => {
  let indices: TestIndices;
  let index: TestIndex;

  beforeAll(async () => {
    indices = await createTestIndices(registry, { toOne: 0, toMany: 0, paths: [] });
    // The keys of 256 rows are read at once, independent of the limit.
    index = await indices.open({ sortLimit: 2, semiJoinLimit: 300 });
    await index.apply(townsAndAuthors());
  }, 180_000);
  afterAll(() => indices?.remove());

  const authors = (query: SearchRequest['query'], sort: readonly SortKey[]) =>
    index.search({ type: AUTHOR, world: 'published', query, sort, from: 0, size: 10, withTotal: true });
  const byHome: SortKey = { path: ['home'], field: 'id', direction: 'asc' };

  it('sorts up to the limit of rows in the process, and refuses more with the setting to change', async () => {
    const two = { kind: 'terms', field: 'id', values: [1, 3] } as const;
    const { hits } = await authors(two, [byHome]);
    expect(hits.sources.map((source) => JSON.parse(Buffer.from(source).toString()).id)).toEqual([3, 1]);
    await expect(authors({ kind: 'match_all' }, [byHome])).rejects.toMatchObject({
      code: 'query-too-large',
      details: {
        param: 'sort',
        path: 'home.id',
        found: '3 matching entries',
        accepted: expect.stringMatching(/at most 2; .*pluginOptions\.varve\.denormalise/),
      },
    });
  });

  it('refuses a semi-join with more keys than the limit, with the setting to change', async () => {
    const some = (query: SearchRequest['query']) => ({ kind: 'some', attribute: 'home', query }) as const;
    const few = await authors(some({ kind: 'term', field: 'name', value: 'town 1' }), []);
    expect(few.total).toBe(1);
    await expect(authors(some({ kind: 'exists', field: 'name' }), [])).rejects.toMatchObject({
      code: 'query-too-large',
      details: { param: 'filters', accepted: expect.stringContaining('pluginOptions.varve.denormalise') },
    });
  });

  it('counts facets of more rows than the documents copy up to the limit, and names the path to copy beyond', async () => {
    const facets = [
      { path: ['authors', 'home', 'authors'], field: 'name', type: 'string', limit: 10 },
    ] as const;
    const towns = (query: SearchRequest['query']) =>
      index.search({
        type: TOWN,
        world: 'published',
        query,
        sort: [],
        from: 0,
        size: 0,
        withTotal: true,
        facets,
      });
    const { facets: counted } = await towns({ kind: 'terms', field: 'id', values: [1, 2, 9] });
    expect(counted?.[0]?.values).toEqual([
      { value: 'author 2', count: 1 },
      { value: 'author 3', count: 1 },
    ]);
    await expect(towns({ kind: 'match_all' })).rejects.toMatchObject({
      code: 'query-too-large',
      details: {
        param: 'facets',
        path: 'authors.home.authors.name',
        found: 'more than 300 entries',
        accepted: expect.stringMatching(/authors\.home\.authors copied .*denormalise\.paths/),
      },
    });
  });
});

describe('a sort in the process on Elasticsearch', await needsElasticsearch(), () => {
  let indices: TestIndices;
  let index: TestIndex;

  beforeAll(async () => {
    indices = await createTestIndices(registry, { toOne: 0, toMany: 0, paths: [] });
    index = await indices.open({ sortLimit: 400 });
    await index.apply(townsAndAuthors());
  }, 180_000);
  afterAll(() => indices?.remove());

  it('sorts more rows than one search returns as hits', async () => {
    const byAuthor = (direction: 'asc' | 'desc', from: number) =>
      index.search({
        ...{ type: TOWN, world: 'published', query: { kind: 'match_all' }, from, size: 4, withTotal: true },
        sort: [{ path: ['authors'], field: 'name', direction }],
      });
    const idsOf = async (page: ReturnType<typeof byAuthor>) =>
      (await page).hits.sources.map((source) => JSON.parse(Buffer.from(source).toString()).id);
    // The author of town 3 is author 1. Towns without an author come last, and first if descending.
    expect(await idsOf(byAuthor('asc', 0))).toEqual([3, 2, 1, 4]);
    expect(await idsOf(byAuthor('desc', 396))).toEqual([400, 1, 2, 3]);
    expect((await byAuthor('asc', 0)).total).toBe(400);
  });
});

describe('groups of many rows on Elasticsearch', await needsElasticsearch(), () => {
  let indices: TestIndices;
  let index: TestIndex;

  /** 120 families of four books, one after the other by their ids, and a book of no family. */
  function families() {
    const rows = Array.from({ length: 481 }, (_, i) => {
      const values = { id: i + 1, slug: i === 480 ? null : `family ${Math.floor(i / 4)}` };
      return { type: BOOK, version: 'published', key: i + 1, row: row(registry, BOOK, values) } as const;
    });
    return { position: 1n, rows, links: [] };
  }

  beforeAll(async () => {
    indices = await createTestIndices(registry);
    index = await indices.open({ groupLimit: 4 });
    await index.apply(families());
  }, 180_000);
  afterAll(() => indices?.remove());

  const search = (more: Partial<SearchRequest>) =>
    index.search({
      ...{ type: BOOK, world: 'published', query: { kind: 'match_all' }, sort: [] },
      ...{ from: 0, size: 10, withTotal: false, groups: { field: 'slug', limit: 2 } },
      ...more,
    });

  it('are read in rounds, of which each one skips the groups before', async () => {
    const { groups, hits } = await search({ from: 90 });
    const shown = groups?.map(({ value, count, hits: rows }) => [value, count, rows]);
    expect(shown).toEqual(Array.from({ length: 10 }, (_, i) => [`family ${90 + i}`, 4, 2]));
    const ids = hits.sources.map((source) => JSON.parse(Buffer.from(source).toString()).id);
    expect(ids.slice(0, 4)).toEqual([361, 362, 365, 366]);
  });

  it('are a 400 if a page needs more than 100 rounds', async () => {
    expect((await search({ from: 90 })).groups).toHaveLength(10);
    await expect(search({ from: 91 })).rejects.toThrow('Invalid distinct: large groups before the page');
  });

  it('are a 400 on a page beyond 10,000 of them, and if they are more than 20 requests count', async () => {
    const counted = { kind: 'range', field: 'id', lt: 321 } as const;
    expect((await search({ from: 9_990, query: counted })).groups).toEqual([]);
    await expect(search({ from: 9_991 })).rejects.toThrow('Invalid distinct: an offset of 9991 groups');
    expect((await search({ query: counted, withTotal: true })).total).toBe(80);
    await expect(search({ withTotal: true })).rejects.toThrow('Invalid distinct: more than 80 groups');
    await expect(search({ withTotal: true, size: 0 })).rejects.toThrow('more than 80 groups');
  });
});
