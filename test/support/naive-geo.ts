import type { GeoArea } from '../../services/query/geo-operators.ts';
import type { Scalar } from '../../shared/read-index/bool-query.ts';

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
