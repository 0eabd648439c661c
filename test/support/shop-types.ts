import { columnValue } from '../../shared/read-index/column.ts';
import type { RowChange } from '../../shared/read-index/read-index.ts';
import { buildRegistry, type SchemaFile } from '../../shared/schema/build-registry.ts';
import type { Uid } from '../../shared/schema/content-type.ts';

export const SHOP: Uid = 'api::shop.shop';
export const OFFER: Uid = 'api::offer.offer';

/** A content type of shops with a point, and one of offers with a shop. */
export function shopFiles(geo: object | undefined): readonly SchemaFile[] {
  const file = (name: string, attributes: object, options: object): SchemaFile => ({
    ...({ model: 'contentType', file: `${name}.json`, namespace: `api::${name}` } as const),
    json: {
      kind: 'collectionType',
      info: { singularName: name, pluralName: `${name}s`, displayName: name },
      options: { draftAndPublish: false },
      attributes,
      ...options,
    },
  });
  const shop = {
    name: { type: 'string' },
    latitude: { type: 'float' },
    longitude: { type: 'decimal' },
    secret: { type: 'float', private: true },
  };
  const offers = {
    title: { type: 'string' },
    shop: { type: 'relation', relation: 'manyToOne', target: SHOP },
  };
  return [
    file('shop', shop, geo === undefined ? {} : { pluginOptions: { varve: { search: { geo } } } }),
    file('offer', offers, {}),
  ];
}

export const LOCATION = { location: { lat: 'latitude', lng: 'longitude' } } as const;

export function shopRegistry(geo: object | undefined = LOCATION) {
  return buildRegistry(shopFiles(geo)).registry;
}

export type ShopPoint = { readonly lat: number | null; readonly lng: number | null };

/** Returns a row of a shop, whose key is also its id. */
export function shopRow(key: number, { lat, lng }: ShopPoint): RowChange {
  const fields = {
    id: key,
    documentId: `shop-${key}`,
    name: `shop ${key}`,
    latitude: lat === null ? null : columnValue('float', lat),
    longitude: lng === null ? null : columnValue('decimal', lng),
  };
  return row(SHOP, key, fields);
}

/** Returns a row of an offer. */
export function offerRow(key: number): RowChange {
  return row(OFFER, key, { id: key, documentId: `offer-${key}`, title: `offer ${key}` });
}

function row(type: Uid, key: number, fields: NonNullable<RowChange['row']>['fields']): RowChange {
  const source = Buffer.from(JSON.stringify({ id: key }));
  return { type, version: 'live', key, row: { fields, components: {}, source } };
}
