import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type GeoArea, geoQuery } from '../../services/query/geo-operators.ts';
import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { createBruteForceReadIndex } from '../support/brute-force-read-index.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { createTestIndices, type TestIndices } from '../support/elasticsearch-index.ts';
import { isInAreaNaively } from '../support/naive-geo.ts';
import {
  LOCATION,
  OFFER,
  offerRow,
  SHOP,
  type ShopPoint,
  shopRegistry,
  shopRow,
} from '../support/shop-types.ts';
import { count } from '../support/takes-minutes.ts';
import { decode } from './read-index-library.ts';
import { link } from './read-index-shelf.ts';

// Refreshes of a real Elasticsearch take long if other tests use the same cores.
vi.setConfig({ testTimeout: 180_000 });

const registry = shopRegistry();
const columns = LOCATION.location;

/** Points at the borders of the map, numbers outside of the map, and a grid around Berlin and Fiji. */
const POINTS: readonly ShopPoint[] = [
  { lat: 90, lng: 0 },
  { lat: 90, lng: 180 },
  { lat: -90, lng: -180 },
  { lat: 0, lng: 180 },
  { lat: 0, lng: -180 },
  { lat: 0, lng: 0 },
  { lat: -0, lng: -0 },
  { lat: 89.9999, lng: -77 },
  { lat: null, lng: 13 },
  { lat: 52, lng: null },
  { lat: null, lng: null },
  { lat: 90.5, lng: 13 },
  { lat: 52, lng: -180.5 },
  ...Array.from({ length: 40 }, (_, at) => ({ lat: 52.5 + (at % 7) / 50, lng: 13.1 + at / 30 })),
  ...Array.from({ length: 20 }, (_, at) => ({
    lat: -17.1 + (at % 5) / 9,
    lng: at < 10 ? 179.9 - at / 7 : at / 7 - 181,
  })),
];

const lat = fc.oneof(fc.double({ min: -90, max: 90, noNaN: true }), fc.constantFrom(-90, 0, 52.53, 90));
const lng = fc.oneof(fc.double({ min: -180, max: 180, noNaN: true }), fc.constantFrom(-180, 0, 13.21, 180));
const meters = fc.oneof(
  fc.double({ min: 1, max: 30_000, noNaN: true }),
  fc.double({ min: 1, max: 20_100_000, noNaN: true }),
);
const centers = fc.oneof(
  fc.record({ lat, lng }),
  fc.record({
    lat: fc.double({ min: 52.4, max: 52.7, noNaN: true }),
    lng: fc.double({ min: 13, max: 14.5, noNaN: true }),
  }),
  fc.record({
    lat: fc.double({ min: -17.2, max: -16, noNaN: true }),
    lng: fc.constantFrom(179.95, -179.95, 180, -180),
  }),
  fc.record({ lat: fc.double({ min: 89.99, max: 90, noNaN: true }), lng }),
);
const areas: fc.Arbitrary<GeoArea> = fc.oneof(
  fc.record({ kind: fc.constant('circle' as const), center: centers, meters }),
  fc.tuple(lat, lng, lat, lng).map(
    ([a, west, b, east]): GeoArea => ({
      kind: 'box',
      south: Math.min(a, b),
      west,
      north: Math.max(a, b),
      east,
    }),
  ),
);

/** Lets 60 offers have the shops as their place, one after the other. */
async function fill(index: ReadIndex): Promise<void> {
  const keys = POINTS.map((_, at) => at + 1);
  const offers = keys.slice(0, 60);
  await index.apply({
    position: 1n,
    rows: [...POINTS.map((point, at) => shopRow(at + 1, point)), ...offers.map(offerRow)],
    links: offers.flatMap((key) =>
      (['draft', 'published'] as const).map((world) => link(OFFER, 'shop', key, key, { world })),
    ),
  });
}

async function ids(index: ReadIndex, type: string, query: BoolQuery): Promise<readonly number[]> {
  const page = { sort: [], from: 0, size: 1_000, withTotal: true } as const;
  const { hits } = await index.search({ type, world: 'published', query, ...page });
  return hits.sources.map((source) => decode(source).id);
}

function describeGeo(open: () => Promise<ReadIndex>, numRuns: number): void {
  let index: ReadIndex;
  beforeAll(async () => {
    index = await open();
    await fill(index);
  }, 300_000);
  afterAll(() => index?.close());

  it('finds the rows in any circle and box, and the rows outside of it, by definition', async () => {
    const property = fc.asyncProperty(areas, fc.boolean(), async (area, negated) => {
      const inside = POINTS.map((point) => isInAreaNaively(area, point.lat, point.lng));
      const expected = inside.flatMap((truth, at) => (truth === !negated ? [at + 1] : []));
      const query = geoQuery(columns, area, negated);
      expect(await ids(index, SHOP, query)).toEqual(expected);
      const offers = await ids(index, OFFER, { kind: 'some', attribute: 'shop', query });
      expect(offers).toEqual(expected.filter((key) => key <= 60));
    });
    await fc.assert(property, { numRuns });
  });

  it('finds a circle together with other conditions, and by itself', async () => {
    const circle = { center: { lat: 52.52, lng: 13.4 }, meters: 20_000 };
    const inside: BoolQuery = { kind: 'area', columns, circle };
    const all = await ids(index, SHOP, inside);
    expect(all.length).toBeGreaterThan(5);
    expect(await ids(index, SHOP, geoQuery(columns, { kind: 'circle', ...circle }, false))).toEqual(all);
    const name: BoolQuery = { kind: 'term', field: 'name', value: `shop ${all[3]}` };
    expect(await ids(index, SHOP, { kind: 'bool', filter: [inside, name] })).toEqual([all[3]]);
    expect(await ids(index, SHOP, { kind: 'bool', filter: [inside], must_not: [name] })).toEqual(
      all.toSpliced(3, 1),
    );
    const without = await ids(index, SHOP, { kind: 'bool', must_not: [inside] });
    expect(without.length).toBe(POINTS.length - all.length);
  });

  it('follows a point that moves', async () => {
    const near = geoQuery(columns, { kind: 'circle', center: { lat: 10, lng: 10 }, meters: 100 }, false);
    const before = POINTS[20] as ShopPoint;
    expect(await ids(index, SHOP, near)).toEqual([]);
    await index.apply({ position: 2n, rows: [shopRow(21, { lat: 10.0001, lng: 10 })], links: [] });
    expect(await ids(index, SHOP, near)).toEqual([21]);
    expect(await ids(index, OFFER, { kind: 'some', attribute: 'shop', query: near })).toEqual([21]);
    await index.apply({ position: 3n, rows: [shopRow(21, { lat: null, lng: 10 })], links: [] });
    expect(await ids(index, SHOP, near)).toEqual([]);
    await index.apply({ position: 4n, rows: [shopRow(21, before)], links: [] });
  });
}

describe('points in the embedded index', () => {
  describeGeo(async () => createEmbeddedIndex({ registry }), 100);
});

describe('points in the reference of property tests', () => {
  describeGeo(async () => createBruteForceReadIndex(registry), 20);
});

describe('points on Elasticsearch', await needsElasticsearch(), () => {
  let indices: TestIndices;
  describeGeo(
    async () => {
      indices = await createTestIndices(registry);
      return indices.open();
    },
    count(400, 8),
  );
  afterAll(() => indices?.remove());
});
