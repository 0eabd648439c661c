import { describe, expect, it } from 'vitest';
import { tagsOfList } from '../../../services/delivery/plan-tags.ts';
import { attributeTag } from '../../../services/delivery/tag.ts';
import { openApiDocument } from '../../../services/openapi/openapi-document.ts';
import { planList } from '../../../services/query/plan-query.ts';
import { createLayout } from '../../../shared/read-index/elasticsearch/layout/create-layout.ts';
import { DEFAULT_DENORMALISE } from '../../../shared/read-index/elasticsearch/layout/document-layout.ts';
import { planSort } from '../../../shared/read-index/elasticsearch/plan/plan-sort.ts';
import { createOrderCache, orderFor } from '../../../shared/read-index/embedded/order/order-cache.ts';
import { createRowSets, worldRowSet } from '../../../shared/read-index/embedded/rows/row-sets.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { contentTypeOf, type SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { refusalOf } from '../../support/naive-schema.ts';
import { LOCATION, OFFER, SHOP, shopFiles, shopRegistry } from '../../support/shop-types.ts';

const registry = shopRegistry();

function plan(queryString: string) {
  const type = contentTypeOf(registry, SHOP);
  return planList({ registry, type, queryString, defaultLocale: 'en' });
}

describe('orders by distance', () => {
  const nearest = (lat: number, lng: number) => ({
    ...{ path: [], nearest: { columns: LOCATION.location, from: { lat, lng }, step: 1 } },
    direction: 'asc',
  });
  const byName = { path: [], field: 'name', direction: 'desc' };

  it.each([
    ['sort[location]=52.5,13.4', [nearest(52.5, 13.4)]],
    ['sort[location]=%20-90%20,%20180%20', [nearest(-90, 180)]],
    ['sort[location]=0,0&sort[name]=desc', [nearest(0, 0), byName]],
    ['sort[0][name]=desc&sort[1][location]=1,2', [byName, nearest(1, 2)]],
  ])('are a point: %s', (query, keys) => expect(plan(query).search.sort).toEqual(keys));

  it.each([
    ...[
      '52.5',
      '52.5,13.4,1',
      '52.5,13.4,1km',
      '90.1,13.4',
      '52.5,180.1',
      '1e1,13.4',
      'x,y',
      ',',
      'asc',
      'DESC',
    ],
    '',
  ])('refuse the point %j', (point) => {
    const { message, details } = refusalOf(() => plan(`sort[location]=${point}`));
    expect(message).toBe('Invalid sort at location: needs a point');
    expect(details).toMatchObject({
      at: 'sort[location]',
      accepted: 'sort[location]=lat,lng such as 52.52,13.4',
    });
  });

  it('have no text form, and only one point', () => {
    for (const query of ['sort=location', 'sort=location:asc', 'sort[]=location', 'sort=name,location:desc'])
      expect(refusalOf(() => plan(query)).message).toBe('Invalid sort at location: needs a point');
    const two = 'sort[0][location]=1,2&sort[1][location]=3,4';
    expect(refusalOf(() => plan(two)).message).toBe('Invalid sort: more than one place');
  });

  it('refuse places elsewhere like unknown names', () => {
    const unusable = { location: { lat: 'secret', lng: 'longitude' }, spot: { lat: 'latitude', lng: 'zzz' } };
    const broken = buildRegistry(shopFiles(unusable)).registry;
    const refusal = (text: string, uid: string, known = registry, mayFind = (_type: string) => true) => {
      const type = contentTypeOf(known, uid);
      const asked = { registry: known, type, queryString: text, defaultLocale: 'en', mayFind };
      const { code, message, details } = refusalOf(() => planList(asked));
      return JSON.stringify({ code, message, details });
    };
    const probe = (text: string, ...rest: [uid: string, known?: SchemaRegistry, mayFind?: () => boolean]) => {
      const unknown = refusal(text.replaceAll('%', 'zzzzzz'), ...rest);
      for (const name of ['location', 'spot', 'secret'])
        expect(refusal(text.replaceAll('%', name), ...rest)).toBe(unknown.replaceAll('zzzzzz', name));
    };
    probe('sort[%]=1,2', OFFER);
    probe('sort[%]=1,2', SHOP, broken);
    probe('sort[%][location]=1,2', OFFER, registry, () => false);
    probe('sort[shop][%]=1,2', OFFER);
    probe('sort[shop][%]=1,2', OFFER, registry, () => false);
    probe('sort[name][%]=1,2', SHOP);
    probe('populate[shop][sort][%]=1,2', OFFER);
    expect(refusalOf(() => plan('sort[zzz]=1,2')).details['accepted']).toContain('location');
  });

  it('tag answers with both attributes, whatever their ties', () => {
    const { fixed, tied } = tagsOfList(registry, plan('sort[location]=1,2'));
    for (const name of ['id', 'latitude', 'longitude'])
      expect(fixed).toContainEqual(attributeTag(SHOP, 'published', name));
    expect(fixed).not.toContainEqual(attributeTag(SHOP, 'published', 'name'));
    expect(tied).toBeUndefined();
  });

  it('are not kept by the embedded index', () => {
    const rowSets = createRowSets(registry, 16);
    const orders = createOrderCache(rowSets, 100_000);
    const rowSet = worldRowSet(rowSets, SHOP, 'published');
    for (const query of ['sort[location]=1,2', 'sort=name'])
      orderFor(orders, rowSet, 'published', plan(query).search.sort);
    expect([...orders.orders.keys()]).toEqual([expect.stringContaining('name')]);
  });

  it('are sorted by the process on Elasticsearch', () => {
    const layout = createLayout(registry, SHOP, DEFAULT_DENORMALISE);
    expect(planSort(layout, plan('sort[location]=1,2').search.sort)).toBeNull();
    expect(planSort(layout, plan('sort=name').search.sort)).not.toBeNull();
  });

  it('are in the description of the API, for types with a place', () => {
    const { paths } = openApiDocument(registry, { version: '1', usersEnvelope: true, uploads: true });
    const sortOf = (path: string) =>
      paths[path]?.get?.parameters?.find(({ name }) => name === 'sort')?.description ?? '';
    expect(sortOf('/api/shops')).toContain('`sort[location]=lat,lng`');
    expect(sortOf('/api/offers')).toMatch(/by `id`\.$/);
  });
});
