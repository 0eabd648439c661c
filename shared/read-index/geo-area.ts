import type { GeoColumns } from '../schema/search-geo.ts';

/** Degrees of latitude and longitude. */
export type GeoPoint = { readonly lat: number; readonly lng: number };

/** The points at most `meters` from a point. */
export type GeoCircle = { readonly center: GeoPoint; readonly meters: number };

/** Distances from a point to the points in two columns, in whole steps of `step` metres. */
export type Nearest = { readonly columns: GeoColumns; readonly from: GeoPoint; readonly step: number };

/** Mean radius of the earth in metres. Lucene's distances use it too. */
export const EARTH_RADIUS = 6_371_008.7714;

/** Returns whether numbers are a latitude and a longitude. */
export function isOnEarth({ lat, lng }: GeoPoint): boolean {
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
}

/** Returns the point of an entry with these values; undefined if they are not a latitude and a longitude. */
export function pointOf(lat: unknown, lng: unknown): GeoPoint | undefined {
  if (typeof lat !== 'number' || typeof lng !== 'number') return undefined;
  const point = { lat, lng };
  return isOnEarth(point) ? point : undefined;
}

/** Degrees between two neighbours of the points that Lucene stores: about a centimetre. */
const STEPS = { lat: 180 / 2 ** 32, lng: 360 / 2 ** 32 };

/** Returns the point that Lucene stores for a point, so that both engines measure the same distance. */
export function storedPoint({ lat, lng }: GeoPoint): GeoPoint {
  return { lat: rounded(lat, 90, STEPS.lat), lng: rounded(lng, 180, STEPS.lng) };
}

function rounded(degrees: number, most: number, step: number): number {
  // The largest value has no step of its own.
  return degrees === most ? most - step : Math.floor(degrees / step) * step;
}

/**
 * Returns the distance of an entry with these values in whole steps; null if it has no place. The embedded index and Elasticsearch's adapter
 * both call this function with the exact values, so their orders are equal.
 */
export function stepsAway({ from, step }: Nearest, lat: unknown, lng: unknown): number | null {
  const point = pointOf(lat, lng);
  return point === undefined ? null : Math.floor(metersBetween(from, point) / step);
}

/** Returns the distance of two points along the surface, in metres, by the haversine formula. */
export function metersBetween(a: GeoPoint, b: GeoPoint): number {
  const [latA, latB] = [radians(a.lat), radians(b.lat)];
  const [byLat, byLng] = [Math.sin((latB - latA) / 2), Math.sin(radians(b.lng - a.lng) / 2)];
  const square = byLat * byLat + Math.cos(latA) * Math.cos(latB) * byLng * byLng;
  return 2 * EARTH_RADIUS * Math.asin(Math.min(1, Math.sqrt(square)));
}

/** Converts degrees to radians. */
export function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}
