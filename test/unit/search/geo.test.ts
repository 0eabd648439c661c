import { describe, expect, it } from 'vitest';
import { tagsOfList } from '../../../services/delivery/plan-tags.ts';
import { attributeTag } from '../../../services/delivery/tag.ts';
import { planList } from '../../../services/query/plan-query.ts';
import type { BoolQuery } from '../../../shared/read-index/bool-query.ts';
import { signature } from '../../../shared/read-index/elasticsearch/indices/create-index.ts';
import { createLayout } from '../../../shared/read-index/elasticsearch/layout/create-layout.ts';
import { DEFAULT_DENORMALISE } from '../../../shared/read-index/elasticsearch/layout/document-layout.ts';
import { indexDefinition } from '../../../shared/read-index/elasticsearch/layout/index-definition.ts';
import { planQuery } from '../../../shared/read-index/elasticsearch/plan/plan-query.ts';
import { metersBetween } from '../../../shared/read-index/geo-area.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { contentTypeOf, type SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { refusalOf } from '../../support/naive-schema.ts';
import { LOCATION, OFFER, SHOP, shopFiles, shopRegistry } from '../../support/shop-types.ts';

const registry = shopRegistry();

function plan(queryString: string, uid = SHOP, known: SchemaRegistry = registry) {
  const type = contentTypeOf(known, uid);
  return planList({ registry: known, type, queryString, defaultLocale: 'en' });
}

const range = (field: string, gte: unknown, lte: unknown) => ({ kind: 'range', field, gte, lte });
const close = (value: number) => expect.closeTo(value, 3);

describe('filters by place', () => {
  it('are a box, and for a circle also its exact distance', () => {
    expect(plan('filters[location][$near]=52.5, 13.4, 10km').search.query).toEqual({
      kind: 'bool',
      filter: [
        range('latitude', close(52.41), close(52.59)),
        range('longitude', close(13.2523), close(13.5477)),
        {
          kind: 'area',
          columns: LOCATION.location,
          circle: { center: { lat: 52.5, lng: 13.4 }, meters: 10_000 },
        },
      ],
    });
    expect(plan('filters[location][$within]=52,13,53,14').search.query).toEqual({
      kind: 'bool',
      filter: [range('latitude', 52, 53), range('longitude', 13, 14)],
    });
  });

  it('cross the 180th meridian, and contain a pole', () => {
    const around = { kind: 'bool', should: [range('longitude', 179, 180), range('longitude', -180, -178)] };
    const { query } = plan('filters[location][$within]=-18,179,-16,-178').search;
    expect(query).toMatchObject({ filter: [range('latitude', -18, -16), around] });
    const crossing = plan('filters[location][$near]=0,179.99,20km').search.query;
    expect(crossing).toMatchObject({ filter: [{}, { should: [{ lte: 180 }, { gte: -180 }] }, {}] });
    const atPole = plan('filters[location][$near]=89.99,5,20km').search.query;
    expect(atPole).toMatchObject({ filter: [{ lte: 90 }, { gte: -180, lte: 180 }, {}] });
  });

  it('are found in neither the filter nor its negation without a place', () => {
    const query = plan('filters[$not][location][$within]=1,2,3,4').search.query as BoolQuery & {
      kind: 'bool';
    };
    expect(query.filter).toEqual([
      range('latitude', -90, 90),
      range('longitude', -180, 180),
      { kind: 'bool', must_not: [expect.objectContaining({ kind: 'bool' })] },
    ]);
  });

  it.each([
    '52.5,13.4',
    '52.5,13.4,10',
    '52.5,13.4,10 km',
    '52.5,13.4,0.5m',
    '52.5,13.4,20101km',
    '52.5,13.4,10km,1',
    '90.1,13.4,10km',
    '52.5,180.1,10km',
    '1e1,13.4,10km',
    ',13.4,10km',
    'x,13.4,10km',
    '52.5,13.4,-1km',
    'NaN,NaN,NaNkm',
    '',
  ])('refuse a circle %j', (operand) => {
    const refusal = refusalOf(() => plan(`filters[location][$near]=${operand}`));
    expect(refusal.message).toBe('Invalid operand of $near');
    expect(refusal.details).toMatchObject({ at: 'filters[location][$near]', found: operand });
  });

  it.each(['1,2,3', '1,2,3,4,5', '3,2,1,4', '1,2,91,4', '1,-181,3,4', 'a,b,c,d'])(
    'refuse a box %j',
    (operand) => {
      const refusal = refusalOf(() => plan(`filters[location][$within]=${operand}`));
      expect(refusal.details).toMatchObject({ at: 'filters[location][$within]', found: operand });
    },
  );

  it.each([
    '=1',
    '[$eq]=1',
    '[$null]=true',
    '[name]=1',
    '[$not][$near]=1,2,3km',
    '[$and][0][$near]=1,2,3km',
    '[]=1',
  ])('refuse other conditions on a place: %s', (condition) => {
    const refusal = refusalOf(() => plan(`filters[location]${condition}`));
    expect(refusal.details['accepted']).toEqual(['$near', '$within']);
  });

  it.each([
    ...['[$near][]=1,2,3km', '[$near][a]=1', '[$near]', '[$within][$near]=1,2,3km'],
    ...['[$near][$ne]=1,2,3km', '[$near][$eq]=1,2,3km', '[$near][$null]=true'],
  ])('refuse operands that are not a text: %s', (condition) => {
    expect(refusalOf(() => plan(`filters[location]${condition}`)).message).toMatch(/^Invalid operand of/);
  });

  it('accept a place only where a type names it, and not as an attribute', () => {
    for (const query of ['fields=location', 'populate=location', 'facets=location', 'distinct=location']) {
      const [place, unknown] = [query, query.replace('location', 'zzz')].map((each) =>
        refusalOf(() => plan(each)),
      );
      expect(place?.message).toBe(unknown?.message.replaceAll('zzz', 'location'));
      expect(place?.details['accepted']).toEqual(unknown?.details['accepted']);
    }
    const near = 'filters[location][$near]=1,2,3km';
    expect(refusalOf(() => plan(near, OFFER)).message).toBe('Invalid key location');
    expect(refusalOf(() => plan(near, SHOP, buildRegistry(shopFiles(undefined)).registry)).message).toBe(
      'Invalid key location',
    );
    expect(refusalOf(() => plan('filters[name][$near]=1,2,3km')).message).toBe('Invalid key $near at name');
    expect(refusalOf(() => plan('filters[zzz]=1')).details['accepted']).toContain('location');
  });

  it('tag answers with both attributes', () => {
    const { fixed } = tagsOfList(registry, plan('filters[location][$near]=1,2,3km'));
    for (const name of ['latitude', 'longitude'])
      expect(fixed).toContainEqual(attributeTag(SHOP, 'published', name));
    expect(fixed).not.toContainEqual(attributeTag(SHOP, 'published', 'name'));
  });
});

describe('the option geo', () => {
  const problems = (geo: object) => buildRegistry(shopFiles(geo)).problems.map(({ path }) => path);
  const at = (...rest: readonly string[]) => ['$.pluginOptions.varve.search.geo', ...rest].join('.');

  it('names numbers of the type', () => {
    expect(problems(LOCATION)).toEqual([]);
    expect(problems({ spot: { lat: 'latitude', lng: 'latitude' }, ...LOCATION })).toEqual([]);
  });

  it.each(['secret', 'name', 'zzz', 'id', 'documentId', ''])('refuses %j as an attribute', (name) => {
    expect(problems({ location: { lat: name, lng: 'longitude' } })).toEqual([at('location', 'lat')]);
    expect(problems({ location: { lat: 'latitude', lng: name } })).toEqual([at('location', 'lng')]);
  });

  it.each(['name', 'secret', 'latitude', 'id', 'locale'])('refuses the name %s', (name) => {
    expect(problems({ [name]: LOCATION.location })).toEqual([at(name)]);
  });

  it.each([
    [],
    'location',
    { location: {} },
    { location: { lat: 'latitude' } },
    { 'a b': LOCATION.location },
  ])('refuses %j', (geo) => expect(problems(geo as object)).not.toEqual([]));
});

describe('points in Elasticsearch', () => {
  const layoutOf = (geo?: object) =>
    createLayout(buildRegistry(shopFiles(geo)).registry, SHOP, DEFAULT_DENORMALISE);
  const properties = (geo?: object) =>
    (indexDefinition(layoutOf(geo))['mappings'] as { properties: Record<string, object> }).properties;

  it('change the mapping of types that name them, and of no others', () => {
    const { p, ...others } = properties(LOCATION);
    expect(p).toEqual({ properties: { 'latitude/longitude': { type: 'geo_point' } } });
    expect(others).toEqual(properties());
    expect(signature(layoutOf(LOCATION), 'log')).not.toBe(signature(layoutOf(), 'log'));
    const swapped = { location: { lat: 'longitude', lng: 'latitude' } };
    expect(signature(layoutOf(LOCATION), 'log')).not.toBe(signature(layoutOf(swapped), 'log'));
    expect(signature(layoutOf({ spot: LOCATION.location }), 'log')).toBe(
      signature(layoutOf(LOCATION), 'log'),
    );
  });

  it('are compared by distance', () => {
    const layouts = (type: string) => createLayout(registry, type, DEFAULT_DENORMALISE);
    const { query } = plan('filters[location][$near]=52.5,13.4,10km').search;
    expect(JSON.stringify(planQuery(layouts, SHOP, query))).toContain(
      '{"geo_distance":{"distance":"10000m","p.latitude/longitude":{"lat":52.5,"lon":13.4}}}',
    );
  });
});

it('measures distances in metres', () => {
  const [berlin, paris] = [
    { lat: 52.52, lng: 13.405 },
    { lat: 48.8566, lng: 2.3522 },
  ];
  expect(metersBetween(berlin, paris) / 1_000).toBeCloseTo(877.5, 0);
  expect(metersBetween({ lat: 0, lng: 179 }, { lat: 0, lng: -179 }) / 1_000).toBeCloseTo(222.4, 1);
  expect(metersBetween(berlin, berlin)).toBe(0);
});
