import { type BoolQuery, MATCH_ALL } from '../../shared/read-index/bool-query.ts';
import type { GeoPoint, Nearest } from '../../shared/read-index/geo-area.ts';
import type { SortKey } from '../../shared/read-index/read-index.ts';
import { visible } from '../../shared/search/split-words.ts';
import { EARTH, type GeoArea, geoQuery, LONGEST_RADIUS, readPoint } from '../query/geo-operators.ts';
import { geolocColumns, neededColumns } from './geo-boxes.ts';
import type { InstantQuery } from './instant-query.ts';
import type { InstantContext } from './named-attributes.ts';
import { type RawParameter, readText, readWhole, refuseParameter } from './parameter-readers.ts';

const PARAMETER = 'aroundLatLng';
/** Algolia's default, and smallest value, of `aroundPrecision`. */
export const LEAST_PRECISION = 10;

/** Reads `aroundLatLng`. Undefined for an empty text. */
export function readCenter(given: RawParameter): GeoPoint | undefined {
  const text = readText(given);
  if (text === '') return undefined;
  return readPoint(text) ?? refuseParameter(given, 'latitude and longitude such as 52.52,13.4');
}

/** Reads `aroundRadius` in metres. Undefined for any distance. */
export function readRadius(given: RawParameter): number | undefined {
  return given.value === 'all' ? undefined : readWhole(given, { min: 1, max: LONGEST_RADIUS });
}

/** Reads `aroundPrecision` in metres. Algolia takes small values for the smallest. */
export function readPrecision(given: RawParameter): number {
  return Math.max(LEAST_PRECISION, readWhole(given, { min: 1, max: LONGEST_RADIUS }));
}

/** Returns the distances that the query asks for; undefined if it asks for none, or the content type names no place. */
export function nearestOf(
  { around }: Pick<InstantQuery, 'around'>,
  { model }: Pick<InstantContext, 'model'>,
): Nearest | undefined {
  const columns = geolocColumns(model);
  return around && columns && { columns, from: around.from, step: around.step };
}

/**
 * Plans `aroundLatLng`: only rows with a place, the nearest first. `isOrdered`: the name of the index has an order. Then, and with words, the
 * order is another one, and the query has to have a radius.
 */
export function planAround(
  query: InstantQuery,
  isOrdered: boolean,
  context: InstantContext,
): { readonly query: BoolQuery; readonly sort: readonly SortKey[] } {
  const { around } = query;
  const columns = around && neededColumns(PARAMETER, context);
  if (around === undefined || columns === undefined) return { query: MATCH_ALL, sort: [] };
  const { from, meters, step } = around;
  const isElsewhere = isOrdered || visible(query.query).trim() !== '';
  if (isElsewhere && meters === undefined) refuseOrder(context);
  const area: GeoArea =
    meters === undefined ? { kind: 'box', ...EARTH } : { kind: 'circle', center: from, meters };
  return {
    query: geoQuery(columns, area, false),
    sort: isElsewhere ? [] : [{ path: [], nearest: { columns, from, step }, direction: 'asc' }],
  };
}

function refuseOrder({ problems }: InstantContext): void {
  problems.push({
    phase: 'own',
    message: `The parameter '${PARAMETER}' does not order hits of words, or of an index with an order in its name`,
    param: PARAMETER,
    found: PARAMETER,
    accepted: 'aroundRadius in metres with it, which only restricts the hits',
  });
}
