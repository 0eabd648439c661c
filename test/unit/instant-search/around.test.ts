import { describe, expect, it } from 'vitest';
import { tagsOfList } from '../../../services/delivery/plan-tags.ts';
import { attributeTag } from '../../../services/delivery/tag.ts';
import { planInstant } from '../../../services/instant-search/plan-query.ts';
import { createRankingInfo } from '../../../services/instant-search/ranking-info.ts';
import { type RawParameters, readQuery } from '../../../services/instant-search/read-query.ts';
import { EARTH, geoQuery } from '../../../services/query/geo-operators.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { refusalOf } from '../../support/naive-schema.ts';
import { LOCATION, SHOP, shopFiles, shopRegistry } from '../../support/shop-types.ts';

const columns = LOCATION.location;
const from = { lat: 52.5, lng: 13.4 };
const AROUND = { aroundLatLng: '52.5, 13.4' };

function plan(parameters: RawParameters, indexName = 'shops', registry = shopRegistry()) {
  const scope = { registry, defaultLocale: 'en', caller: {}, rules: {} };
  return planInstant(readQuery({ indexName, parameters }), scope);
}

function read(parameters: RawParameters) {
  return readQuery({ indexName: 'shops', parameters }).around;
}

const nearest = (step: number) => [{ path: [], nearest: { columns, from, step }, direction: 'asc' }];
const everywhere = geoQuery(columns, { kind: 'box', ...EARTH }, false);

describe('aroundLatLng', () => {
  it.each<[RawParameters, object | undefined]>([
    [AROUND, { from, step: 10 }],
    [
      { ...AROUND, aroundRadius: 'all' },
      { from, step: 10 },
    ],
    [
      { ...AROUND, aroundRadius: 1, aroundPrecision: 1 },
      { from, meters: 1, step: 10 },
    ],
    [
      { ...AROUND, aroundRadius: '5000', aroundPrecision: '250' },
      { from, meters: 5_000, step: 250 },
    ],
    [
      { ...AROUND, minimumAroundRadius: 9 },
      { from, step: 10 },
    ],
    [{ aroundRadius: 100, aroundPrecision: 20 }, undefined],
    [{ aroundLatLng: '', aroundRadius: 100 }, undefined],
    [{ aroundLatLng: null }, undefined],
    [{ ...AROUND, insideBoundingBox: [[1, 2, 3, 4]] }, undefined],
  ])('reads %j', (parameters, around) => expect(read(parameters)).toEqual(around));

  it.each<RawParameters>([
    ...['52.5', '91,1', '1,181', '1,2,3', 'x,y', [52.5, 13.4], { lat: 1, lng: 2 }, 1].map((aroundLatLng) => ({
      aroundLatLng,
    })),
    ...[0, -1, 1.5, 20_100_001, 'any', [], true].map((aroundRadius) => ({ ...AROUND, aroundRadius })),
    ...[0, 0.5, 'all', [{ from: 0, value: 25 }]].map((aroundPrecision) => ({ ...AROUND, aroundPrecision })),
    { aroundLatLng: 'x', insideBoundingBox: [[1, 2, 3, 4]] },
    { aroundRadius: 0 },
  ])('refuses %j', (parameters) => {
    expect(refusalOf(() => read(parameters)).message).toMatch(/^Invalid parameter 'around/);
  });

  it('orders the rows with a place by their distance', () => {
    expect(plan(AROUND).search).toMatchObject({ query: everywhere, sort: nearest(10) });
    expect(plan({ ...AROUND, query: ' ', aroundPrecision: 500 }).search.sort).toEqual(nearest(500));
    const near = plan({ ...AROUND, aroundRadius: 300, facets: ['name'] }).search;
    expect(near.query).toEqual(geoQuery(columns, { kind: 'circle', center: from, meters: 300 }, false));
    expect(near.sort).toEqual(nearest(10));
  });

  it('only restricts the hits of words, and of an index with an order in its name', () => {
    const circle = { ...AROUND, aroundRadius: 300 };
    for (const [parameters, indexName] of [
      [{ ...circle, query: 'bread' }, 'shops'],
      [circle, 'shops:name:desc'],
    ] as const) {
      const { search } = plan(parameters, indexName);
      expect(search.query).toEqual(geoQuery(columns, { kind: 'circle', center: from, meters: 300 }, false));
      expect(search.sort.some((key) => 'nearest' in key)).toBe(false);
    }
    expect(plan({ ...circle, query: 'bread' }).search.text).toMatchObject({ isRanked: true });
    for (const [parameters, indexName] of [
      [{ ...AROUND, query: 'bread' }, 'shops'],
      [{ ...AROUND, query: 'bread', aroundRadius: 'all' }, 'shops'],
      [AROUND, 'shops:name:desc'],
    ] as const) {
      const { message, details } = refusalOf(() => plan(parameters, indexName));
      expect(message).toMatch(/^The parameter 'aroundLatLng' does not order hits of words/);
      expect(details).toMatchObject({
        param: 'aroundLatLng',
        accepted: expect.stringContaining('aroundRadius'),
      });
    }
  });

  it('orders nothing where there are no hits', () => {
    for (const parameters of [{ hitsPerPage: 0 }, { type: 'facet', facet: 'name' }, { page: 1_000_000 }])
      expect(plan({ ...AROUND, ...parameters }).search).toMatchObject({
        query: everywhere,
        sort: [],
        size: 0,
      });
  });

  it('needs a place of the content type', () => {
    const hidden = buildRegistry(shopFiles({ location: { lat: 'secret', lng: 'longitude' } })).registry;
    for (const known of [buildRegistry(shopFiles(undefined)).registry, hidden])
      expect(refusalOf(() => plan(AROUND, 'shops', known)).message).toBe(
        "The parameter 'aroundLatLng' needs the option geo of the content type",
      );
  });

  it('tags answers with both attributes', () => {
    const { fixed } = tagsOfList(shopRegistry(), plan(AROUND));
    for (const name of ['latitude', 'longitude'])
      expect(fixed).toContainEqual(attributeTag(SHOP, 'published', name));
  });

  it('gives hits their distance in steps, also if they do not show their place', () => {
    const shown = { getRankingInfo: true, attributesToRetrieve: ['name'] };
    const row = { id: 1, latitude: 52.51, longitude: 13.4 };
    const limits = { count: () => {}, compare: () => {} };
    const infoOf = (parameters: RawParameters) =>
      createRankingInfo(plan({ ...shown, ...parameters }), undefined, row, limits)?.();
    expect(infoOf(AROUND)).toMatchObject({ geoDistance: 111, geoPrecision: 10 });
    const words = { ...AROUND, aroundPrecision: 500, aroundRadius: 9_000, query: 'bread' };
    expect(infoOf(words)).toMatchObject({ geoDistance: 2, geoPrecision: 500 });
    expect(infoOf({})).toMatchObject({ geoDistance: 0, geoPrecision: 0 });
  });
});
