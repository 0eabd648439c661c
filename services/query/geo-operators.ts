import type { BoolQuery } from '../../shared/read-index/bool-query.ts';
import {
  EARTH_RADIUS,
  type GeoCircle,
  type GeoPoint,
  isOnEarth,
  radians,
} from '../../shared/read-index/geo-area.ts';
import type { GeoColumns } from '../../shared/schema/search-geo.ts';
import { allOf, anyOf, noneOf } from './combine-queries.ts';

/** Degrees. `west` may be greater than `east`: the box then crosses the 180th meridian. */
export type GeoBox = {
  readonly south: number;
  readonly west: number;
  readonly north: number;
  readonly east: number;
};

export type GeoArea =
  | ({ readonly kind: 'circle' } & GeoCircle)
  /** All borders are included. */
  | ({ readonly kind: 'box' } & GeoBox);

type GeoOperator = {
  /** Reads an operand; undefined if it has another form. */
  readonly read: (operand: string) => GeoArea | undefined;
  readonly accepted: string;
};

/** Operators on the point of an entry. */
const GEO_OPERATORS: { readonly [name: string]: GeoOperator } = {
  $near: {
    read: readCircle,
    accepted: 'lat,lng,radius such as 52.52,13.4,10km; the radius in m, km or mi, from 1m to 20100km',
  },
  $within: {
    read: readBox,
    accepted: 'south,west,north,east in degrees, such as 52.3,13.1,52.7,13.8',
  },
};

export const GEO_OPERATOR_NAMES: readonly string[] = Object.keys(GEO_OPERATORS);

/** Returns the operator of this name; undefined if points have none. */
export function geoOperator(name: string): GeoOperator | undefined {
  return Object.hasOwn(GEO_OPERATORS, name) ? GEO_OPERATORS[name] : undefined;
}

const METERS = { m: 1, km: 1_000, mi: 1_609.344 } as const;
/** Metres: a little more than half of the way around the earth. */
export const LONGEST_RADIUS = 20_100_000;
const NUMBER = /^-?\d{1,3}(\.\d{1,20})?$/;
const RADIUS = /^(\d{1,9}(?:\.\d{1,20})?)(m|km|mi)$/;

function readCircle(operand: string): GeoArea | undefined {
  const [lat = '', lng = '', radius = '', ...more] = operand.split(',').map((part) => part.trim());
  const [, amount = '', unit = ''] = RADIUS.exec(radius) ?? [];
  const meters = Number(amount) * METERS[unit as keyof typeof METERS];
  const center = pointFrom(lat, lng);
  if (center === undefined || more.length > 0 || !(meters >= 1 && meters <= LONGEST_RADIUS)) return undefined;
  return { kind: 'circle', center, meters };
}

function readBox(operand: string): GeoArea | undefined {
  const [south = '', west = '', north = '', east = '', ...more] = operand
    .split(',')
    .map((part) => part.trim());
  const low = pointFrom(south, west);
  const high = pointFrom(north, east);
  if (low === undefined || high === undefined || more.length > 0 || low.lat > high.lat) return undefined;
  return { kind: 'box', south: low.lat, west: low.lng, north: high.lat, east: high.lng };
}

/** Reads a point such as `52.52,13.4`; undefined if it has another form, or is not on earth. */
export function readPoint(text: string): GeoPoint | undefined {
  const [lat = '', lng = '', ...more] = text.split(',').map((part) => part.trim());
  return more.length === 0 ? pointFrom(lat, lng) : undefined;
}

function pointFrom(lat: string, lng: string): GeoPoint | undefined {
  const point = { lat: Number(lat), lng: Number(lng) };
  return NUMBER.test(lat) && NUMBER.test(lng) && isOnEarth(point) ? point : undefined;
}

/** Returns the query of the rows whose point is in an area, or is not. Rows without a point match neither. */
export function geoQuery(columns: GeoColumns, area: GeoArea, negated: boolean): BoolQuery {
  const inside = insideQuery(columns, area);
  return negated ? allOf([boxQuery(columns, EARTH), noneOf(inside)]) : inside;
}

/** The box with all places. */
export const EARTH: GeoBox = { south: -90, west: -180, north: 90, east: 180 };

function insideQuery(columns: GeoColumns, area: GeoArea): BoolQuery {
  if (area.kind === 'box') return boxQuery(columns, area);
  const { center, meters } = area;
  return allOf([boxQuery(columns, boxAround(area)), { kind: 'area', columns, circle: { center, meters } }]);
}

function boxQuery({ lat, lng }: GeoColumns, { south, west, north, east }: GeoBox): BoolQuery {
  const between = (gte: number, lte: number): BoolQuery => ({ kind: 'range', field: lng, gte, lte });
  return allOf([
    { kind: 'range', field: lat, gte: south, lte: north },
    west <= east ? between(west, east) : anyOf([between(west, 180), between(-180, east)]),
  ]);
}

/** Metres by which a box is larger than its circle, because points are rounded. */
const SLACK = 0.1;
/** Degrees for the rounding of computed borders. */
const MARGIN = 1e-6;

/** Returns a box that contains a circle. */
function boxAround({ center, meters }: GeoCircle): GeoBox {
  const angle = (meters + SLACK) / EARTH_RADIUS;
  const height = degrees(angle) + MARGIN;
  const [south, north] = [Math.max(-90, center.lat - height), Math.min(90, center.lat + height)];
  const spread = Math.sin(angle) / Math.cos(radians(center.lat));
  const hasPole = south === -90 || north === 90 || spread >= 1;
  const width = hasPole ? 180 : degrees(Math.asin(spread)) + MARGIN;
  if (width >= 180) return { ...EARTH, south, north };
  return { south, west: onEarth(center.lng - width), north, east: onEarth(center.lng + width) };
}

function degrees(angle: number): number {
  return (angle * 180) / Math.PI;
}

function onEarth(lng: number): number {
  return lng < -180 ? lng + 360 : lng > 180 ? lng - 360 : lng;
}
