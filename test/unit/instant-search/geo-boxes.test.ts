import { describe, expect, it } from 'vitest';
import { geolocOf } from '../../../services/instant-search/geo-boxes.ts';
import { planInstant } from '../../../services/instant-search/plan-query.ts';
import { type RawParameters, readQuery } from '../../../services/instant-search/read-query.ts';
import { RequestError } from '../../../shared/request-error.ts';
import { refusalOf } from '../../support/naive-schema.ts';
import { LOCATION, shopRegistry } from '../../support/shop-types.ts';

const registry = shopRegistry();

function plan(parameters: RawParameters, indexName = 'shops') {
  const scope = { registry, defaultLocale: 'en', caller: {}, rules: {} };
  return planInstant(readQuery({ indexName, parameters }), scope);
}

const boxesOf = (insideBoundingBox: unknown) =>
  readQuery({ indexName: 'shops', parameters: { insideBoundingBox } }).boxes?.map(
    ({ south, west, north, east }) => [south, west, north, east],
  );

describe('insideBoundingBox', () => {
  it.each<[unknown, readonly (readonly number[])[] | undefined]>([
    [[[1, 2, 3, 4]], [[1, 2, 3, 4]]],
    ['1,2,3,4', [[1, 2, 3, 4]]],
    [
      '[[1,2,3,4],[-1,-2,3,4]]',
      [
        [1, 2, 3, 4],
        [-1, -2, 3, 4],
      ],
    ],
    [
      '1,2,3,4,-1,-2,3,4',
      [
        [1, 2, 3, 4],
        [-1, -2, 3, 4],
      ],
    ],
    [[['1', '2', '3', '4']], [[1, 2, 3, 4]]],
    [[1, 2, 3, 4], [[1, 2, 3, 4]]],
    ['', undefined],
    [null, undefined],
  ])('reads %j', (value, boxes) => expect(boxesOf(value)).toEqual(boxes));

  it('takes opposite corners in any order, also over the 180th meridian', () => {
    for (const corners of ['47,4,48,5', '48,5,47,4', '48,4,47,5', '47,5,48,4'])
      expect(boxesOf(corners)).toEqual([[47, 4, 48, 5]]);
    expect(boxesOf('10,-175,-10,175')).toEqual([[-10, 175, 10, -175]]);
    expect(boxesOf('80,170,-80,-170')).toEqual([[-80, -170, 80, 170]]);
    // A map of the Pacific, 240 degrees wide.
    expect(boxesOf('10,-60,-10,60')).toEqual([[-10, 60, 10, -60]]);
    expect(boxesOf('10,-30,-10,29')).toEqual([[-10, -30, 10, 29]]);
  });

  it.each([
    [],
    [[]],
    [[1, 2, 3]],
    [[1, 2, 3, 4, 5]],
    [[1, 2, 3, 4], 5, 6, 7, 8],
    [
      [1, 2],
      [3, 4],
    ],
    [[91, 2, 3, 4]],
    [[1, 2, 3, 181]],
    [[1, 2, 3, '']],
    [[1, 2, 3, null]],
    ['1,2,3'],
    ['1,2,3,x'],
    [true],
    [{}],
    [[[[1, 2, 3, 4]]]],
    [Array.from({ length: 21 }, () => [1, 2, 3, 4])],
  ])('refuses %j', (...value) => {
    const given = value.length === 1 ? value[0] : value;
    expect(() => boxesOf(given)).toThrow(RequestError);
  });

  it('filters by the place of the content type, and is refused without one', () => {
    const range = (field: string, gte: number, lte: number) => ({ kind: 'range', field, gte, lte });
    const box = (at: number) => ({
      kind: 'bool',
      filter: [range('latitude', at, at + 2), range('longitude', at + 1, at + 3)],
    });
    expect(plan({ insideBoundingBox: [[1, 2, 3, 4]] }).search.query).toEqual(box(1));
    expect(plan({ insideBoundingBox: '1,2,3,4,5,6,7,8' }).search.query).toEqual({
      kind: 'bool',
      should: [box(1), box(5)],
    });
    const refusal = refusalOf(() => plan({ insideBoundingBox: '1,2,3,4' }, 'offers'));
    expect(refusal.message).toContain('needs the option geo');
  });
});

describe('_geoloc', () => {
  const pointOf = (attributesToRetrieve?: readonly string[], indexName?: string) =>
    plan(attributesToRetrieve === undefined ? {} : { attributesToRetrieve }, indexName).hits.point;

  it('is a member of hits that have a place, unless the query names others', () => {
    for (const names of [undefined, ['*'], ['name', '_geoloc'], ['-name']])
      expect(pointOf(names)).toEqual(LOCATION.location);
    for (const names of [['name'], ['-_geoloc'], ['*', '-_geoloc'], []])
      expect(pointOf(names)).toBeUndefined();
    expect(pointOf(undefined, 'offers')).toBeUndefined();
    const refused = (name: string) => refusalOf(() => pointOf([name], 'offers')).message;
    expect(refused('_geoloc')).toBe(refused('zzz').replace('zzz', '_geoloc'));
  });

  it('has the numbers of the row', () => {
    const columns = LOCATION.location;
    expect(geolocOf({ latitude: 1.5, longitude: -2 }, columns)).toEqual({ lat: 1.5, lng: -2 });
    for (const row of [{ latitude: 1 }, { latitude: null, longitude: 1 }, { latitude: 91, longitude: 1 }])
      expect(geolocOf(row, columns)).toBeUndefined();
    expect(geolocOf({ latitude: 1.5, longitude: -2 }, undefined)).toBeUndefined();
  });
});
