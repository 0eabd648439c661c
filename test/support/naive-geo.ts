import type { GeoArea } from '../../services/query/geo-operators.ts';
import type { Scalar } from '../../shared/read-index/bool-query.ts';
import { metersBetween, type Nearest } from '../../shared/read-index/geo-area.ts';
import type { FieldValues } from '../../shared/read-index/read-index.ts';

type Value = Scalar | null | undefined;

/** Returns whether a point is in an area; null if the values are not a latitude and a longitude. */
export function isInAreaNaively(area: GeoArea, lat: Value, lng: Value): boolean | null {
  if (typeof lat !== 'number' || typeof lng !== 'number') return null;
  if (lat < -90 || lat > 90 || lng < -180 || lng > 180) return null;
  if (area.kind === 'circle') return metersNaively(area.center, { lat, lng }) <= area.meters;
  const { south, west, north, east } = area;
  const isBetween = west <= east ? lng >= west && lng <= east : lng >= west || lng <= east;
  return lat >= south && lat <= north && isBetween;
}

/** Returns the whole steps from a point to the point of a row; null if the row has none. */
export function stepsNaively({ columns, from, step }: Nearest, fields: FieldValues): number | null {
  const [lat, lng] = [fields[columns.lat], fields[columns.lng]];
  const inside = isInAreaNaively({ kind: 'box', south: -90, west: -180, north: 90, east: 180 }, lat, lng);
  if (inside !== true) return null;
  // The chord would not do: its distances to the other side of the earth are off by centimetres.
  return Math.floor(metersBetween(from, { lat: Number(lat), lng: Number(lng) }) / step);
}

type Point = { readonly lat: number; readonly lng: number };

/** Returns the distance of two points on a sphere: the angle between their vectors, by the length of the chord. */
function metersNaively(a: Point, b: Point): number {
  const [from, to] = [vector(a), vector(b)];
  const chord = Math.hypot(...from.map((each, at) => each - (to[at] as number)));
  return 6_371_008.7714 * 2 * Math.asin(Math.min(1, chord / 2));
}

function vector({ lat, lng }: Point): readonly number[] {
  const [up, around] = [(lat * Math.PI) / 180, (lng * Math.PI) / 180];
  return [Math.cos(up) * Math.cos(around), Math.cos(up) * Math.sin(around), Math.sin(up)];
}
