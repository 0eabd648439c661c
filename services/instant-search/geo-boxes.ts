import { type BoolQuery, MATCH_ALL, MATCH_NONE } from '../../shared/read-index/bool-query.ts';
import { type GeoPoint, isOnEarth, pointOf } from '../../shared/read-index/geo-area.ts';
import type { GeoColumns } from '../../shared/schema/search-geo.ts';
import { anyOf } from '../query/combine-queries.ts';
import { type GeoBox, geoQuery } from '../query/geo-operators.ts';
import type { QueryModel } from '../query/query-model.ts';
import type { InstantContext } from './named-attributes.ts';
import { type RawParameter, readList, refuseParameter } from './parameter-readers.ts';

/** Name of the point of a hit in Algolia's protocol. */
export const GEO_MEMBER = '_geoloc';

const PARAMETER = 'insideBoundingBox';
const MOST_BOXES = 20;
/** Maximum width of a box whose corners may be north-west and south-east, in degrees. */
const WIDEST_SWAPPED = 60;
const ACCEPTED = `up to ${MOST_BOXES} boxes, each with the latitude and longitude of two opposite corners, such as [[52.3, 13.1, 52.7, 13.8]]`;

/** Reads `insideBoundingBox`: a list of boxes, or text with four numbers for each. Undefined for an empty text. */
export function readBoxes(given: RawParameter): readonly GeoBox[] | undefined {
  const { param, value } = given;
  if (value === '') return undefined;
  const list = readList({ param, value });
  const numbers = (typeof list === 'string' ? list.split(',') : [list].flat(2)).map(numberOf);
  const hasOtherParts = Array.isArray(list) && list.some(Array.isArray) && !list.every(isBox);
  const count = numbers.length / 4;
  if (hasOtherParts || count < 1 || count > MOST_BOXES || !Number.isInteger(count))
    return refuseParameter(given, ACCEPTED);
  return Array.from({ length: count }, (_, at) => {
    const [lat1 = 0, lng1 = 0, lat2 = 0, lng2 = 0] = numbers.slice(at * 4);
    const corners = [
      { lat: lat1, lng: lng1 },
      { lat: lat2, lng: lng2 },
    ] as const;
    return corners.every(isOnEarth) ? boxOf(...corners) : refuseParameter(given, ACCEPTED);
  });
}

function isBox(value: unknown): boolean {
  return Array.isArray(value) && value.length === 4;
}

/** Returns NaN for what is not a number. */
function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
}

/**
 * Returns the box of two opposite corners, which clients send in any order. Corners that look like south-west and north-east of a box over
 * the 180th meridian may also be south-east and north-west of another one. Maps send the former, also of boxes that are wider than half of the
 * world. So only corners that are near each other are the latter.
 */
function boxOf(one: GeoPoint, other: GeoPoint): GeoBox {
  const [low, high] = one.lat <= other.lat ? [one, other] : [other, one];
  const isCrossing = low.lng - high.lng >= WIDEST_SWAPPED;
  const isSwapped = low.lng > high.lng && !isCrossing;
  const [west, east] = isSwapped ? [high.lng, low.lng] : [low.lng, high.lng];
  return { south: low.lat, west, north: high.lat, east };
}

/** Returns the columns of `_geoloc`: those of the first name in the option `geo` of the content type. */
export function geolocColumns({ geo }: Pick<QueryModel, 'geo'>): GeoColumns | undefined {
  return geo.values().next().value;
}

/** Returns the query of the rows in one of the boxes. Adds a problem if the content type names no place. */
export function boxesQuery(boxes: readonly GeoBox[] | undefined, context: InstantContext): BoolQuery {
  if (boxes === undefined) return MATCH_ALL;
  const columns = neededColumns(PARAMETER, context);
  if (columns === undefined) return MATCH_NONE;
  return anyOf(boxes.map((box) => geoQuery(columns, { kind: 'box', ...box }, false)));
}

/** Returns the columns of `_geoloc`. Adds a problem with the parameter that needs them if the content type names no place. */
export function neededColumns(param: string, { model, problems }: InstantContext): GeoColumns | undefined {
  const columns = geolocColumns(model);
  if (columns !== undefined) return columns;
  const message = `The parameter '${param}' needs the option geo of the content type`;
  problems.push({ phase: 'own', message, param, found: param, accepted: `no ${param}` });
  return undefined;
}

/** Returns the point of a row; undefined if it has none. */
export function geolocOf(
  row: Readonly<Record<string, unknown>>,
  columns: GeoColumns | undefined,
): GeoPoint | undefined {
  return columns && pointOf(row[columns.lat], row[columns.lng]);
}
