import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { geoQuery } from '../../services/query/geo-operators.ts';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex, SearchRequest, SortKey, SortPosition } from '../../shared/read-index/read-index.ts';
import { createBruteForceReadIndex } from '../support/brute-force-read-index.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { createTestIndices, type TestIndices } from '../support/elasticsearch-index.ts';
import { LOCATION, SHOP, type ShopPoint, shopRegistry, shopRow } from '../support/shop-types.ts';
import { count } from '../support/takes-minutes.ts';
import { decode } from './read-index-library.ts';

// Refreshes of a real Elasticsearch take long if other tests use the same cores.
vi.setConfig({ testTimeout: 180_000 });

const registry = shopRegistry();
const columns = LOCATION.location;
const MATCH_ALL: BoolQuery = { kind: 'match_all' };

const lat = fc.oneof(fc.double({ min: -90, max: 90, noNaN: true }), fc.constantFrom(-90, 0, 52.53, 90));
const lng = fc.oneof(fc.double({ min: -180, max: 180, noNaN: true }), fc.constantFrom(-180, 0, 13.21, 180));

/** Points without a place, at the borders of the map, twice in one place, a few millimetres and metres apart, and anywhere. */
const POINTS: readonly ShopPoint[] = [
  { lat: null, lng: 13 },
  { lat: 52, lng: null },
  { lat: 90.5, lng: 13 },
  { lat: 52, lng: -180.5 },
  { lat: 90, lng: 0 },
  { lat: -90, lng: -180 },
  { lat: 0, lng: 180 },
  { lat: 0, lng: -180 },
  { lat: -0, lng: -0 },
  ...Array.from({ length: 40 }, (_, at) => ({ lat: 52.5 + (at % 7) * 1e-8, lng: 13.1 + at * 1e-8 })),
  ...Array.from({ length: 60 }, (_, at) => ({ lat: 52.5 + (at % 20) * 1e-5, lng: 13.1 + (at % 20) * 1e-6 })),
  ...fc.sample(fc.record({ lat, lng }), { numRuns: 240, seed: 7 }),
];

const centers = fc.oneof(
  fc.record({ lat, lng }),
  fc.record({
    lat: fc.double({ min: 52.499, max: 52.501, noNaN: true }),
    lng: fc.double({ min: 13.099, max: 13.101, noNaN: true }),
  }),
  // The place of an entry, and the other side of the earth.
  fc.constantFrom({ lat: 52.5, lng: 13.1 }, { lat: -52.5, lng: 13.1 - 180 }, { lat: 0, lng: 0 }),
);
const nearest = fc
  .record({ from: centers, step: fc.constantFrom(0.01, 1, 10, 1_000, 1e9) })
  .map(({ from, step }): SortKey => ({ path: [], nearest: { columns, from, step }, direction: 'asc' }));
const byName: SortKey = { path: [], field: 'name', direction: 'desc' };
const byLatitude: SortKey = { path: [], field: 'latitude', direction: 'asc' };
const sorts = fc.oneof(
  nearest.map((key) => [key]),
  nearest.map((key) => [key, byName]),
  nearest.map((key) => [byLatitude, key]),
);
const queries: fc.Arbitrary<BoolQuery> = fc.oneof(
  fc.constant(MATCH_ALL),
  fc
    .record({ center: centers, meters: fc.constantFrom(1, 100, 1_000_000, 20_000_000) })
    .map((circle) => geoQuery(columns, { kind: 'circle', ...circle }, false)),
);

async function fill(index: ReadIndex): Promise<void> {
  const rows = POINTS.map((point, at) => shopRow(at + 1, point));
  await index.apply({ position: 1n, rows, links: [] });
}

type Asked = Pick<SearchRequest, 'query' | 'sort'> & Partial<SearchRequest>;

async function search(index: ReadIndex, asked: Asked) {
  const page = { type: SHOP, world: 'published', from: 0, size: 1_000, withTotal: true } as const;
  const { hits, total, next, groups } = await index.search({ ...page, ...asked });
  return { ids: hits.sources.map((source) => decode(source).id as number), total, next, groups };
}

async function walk(index: ReadIndex, asked: Asked, size: number): Promise<readonly number[]> {
  const ids: number[] = [];
  let after: SortPosition | null | undefined = null;
  do {
    const found: Awaited<ReturnType<typeof search>> = await search(index, {
      ...asked,
      size,
      cursor: { after },
    });
    ids.push(...found.ids);
    after = found.next;
  } while (after !== null && after !== undefined);
  return ids;
}

function describeDistance(open: () => Promise<ReadIndex>, numRuns: number): void {
  const naive = createBruteForceReadIndex(registry);
  let index: ReadIndex;
  beforeAll(async () => {
    index = await open();
    await fill(index);
    await fill(naive);
  }, 300_000);
  afterAll(() => index?.close());

  it('orders rows by their distance in steps, on any page', async () => {
    const pages = fc.record({ from: fc.nat(360), size: fc.constantFrom(0, 1, 7, 1_000) });
    const property = fc.asyncProperty(sorts, queries, pages, async (sort, query, page) => {
      const expected = await search(naive, { query, sort, ...page });
      expect(await search(index, { query, sort, ...page })).toEqual(expected);
    });
    await fc.assert(property, { numRuns });
  });

  it('walks them by cursor, and groups them', async () => {
    const property = fc.asyncProperty(sorts, queries, async (sort, query) => {
      const { ids } = await search(naive, { query, sort });
      expect(await walk(index, { query, sort }, 131)).toEqual(ids);
      const groups = { field: 'name', limit: 1 };
      const grouped = await search(index, { query, sort, groups });
      expect(grouped).toMatchObject({ ids, total: ids.length });
      expect(grouped.groups).toHaveLength(ids.length);
    });
    await fc.assert(property, { numRuns: Math.ceil(numRuns / 4) });
  });

  const from = { lat: 52.5, lng: 13.1 };
  const sort: readonly SortKey[] = [{ path: [], nearest: { columns, from, step: 1 }, direction: 'asc' }];

  it('orders rows that a search by words finds', async () => {
    const text = { query: 'shop', locales: ['en'], typoTolerance: true, isRanked: false } as const;
    const { ids } = await search(naive, { query: MATCH_ALL, sort });
    expect(await search(index, { query: MATCH_ALL, sort, text })).toMatchObject({ ids });
  });

  it('follows a point that moves', async () => {
    const first = async () => (await search(index, { query: MATCH_ALL, sort, size: 1 })).ids;
    const last = async () => (await search(index, { query: MATCH_ALL, sort, from: POINTS.length - 1 })).ids;
    expect(await last()).toEqual([4]);
    const before = await first();
    await index.apply({
      position: 2n,
      rows: [shopRow(1, from), shopRow(340, { lat: 1, lng: null })],
      links: [],
    });
    expect(await first()).toEqual([1]);
    expect(await last()).toEqual([340]);
    const back = [shopRow(1, POINTS[0] as ShopPoint), shopRow(340, POINTS[339] as ShopPoint)];
    await index.apply({ position: 3n, rows: back, links: [] });
    expect(await first()).toEqual(before);
    expect(await last()).toEqual([4]);
  });
}

describe('distances in the embedded index', () => {
  describeDistance(async () => createEmbeddedIndex({ registry }), count(2_000, 60));
});

describe('distances on Elasticsearch', await needsElasticsearch(), () => {
  let indices: TestIndices;
  describeDistance(
    async () => {
      indices = await createTestIndices(registry);
      return indices.open();
    },
    count(300, 8),
  );
  afterAll(() => indices?.remove());

  it('are compared for up to the limit of rows, and more are refused with what to do', async () => {
    const limited = await indices.open({ sortLimit: 2 });
    const keys = [1, 2, 3];
    await limited.apply({
      position: 1n,
      rows: keys.map((key) => shopRow(key, { lat: -key, lng: 0 })),
      links: [],
    });
    const nearPole: SortKey = {
      path: [],
      nearest: { columns, from: { lat: -90, lng: 0 }, step: 1 },
      direction: 'asc',
    };
    const two: BoolQuery = { kind: 'terms', field: 'id', values: [1, 3] };
    expect(await search(limited, { query: two, sort: [nearPole] })).toMatchObject({ ids: [3, 1] });
    await expect(search(limited, { query: MATCH_ALL, sort: [nearPole] })).rejects.toMatchObject({
      code: 'query-too-large',
      message: 'Invalid sort: 3 entries to sort by distance',
      details: { found: '3 matching entries', accepted: expect.stringMatching(/at most 2; .*\$near/) },
    });
  });
});
