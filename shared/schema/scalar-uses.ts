import type { ScalarType } from './content-type.ts';

/** Uses of an attribute type's values in requests, besides filters and sorts. */
export type ScalarUses = {
  /** How much a match says of a row if the schema sets no weight; null: a search does not look at such values by itself. */
  readonly searchWeight: number | null;
  /** Matches can be marked in it. */
  readonly isHighlighted: boolean;
  /** A facet can count its values. */
  readonly isCounted: boolean;
  /** It has few values, so that a request for all facets counts them. */
  readonly hasFewValues: boolean;
  /** Equal values choose few rows: those of texts that are usually short and differ, or those of one among a few values. */
  readonly selects: 'one' | 'few' | null;
};

const NUMBER = {
  searchWeight: null,
  isHighlighted: false,
  isCounted: true,
  hasFewValues: true,
  selects: null,
} as const satisfies ScalarUses;

const TIME = { ...NUMBER, hasFewValues: false } as const satisfies ScalarUses;

const NONE = { ...TIME, isCounted: false } as const satisfies ScalarUses;

const LONG_TEXT = {
  searchWeight: 1,
  isHighlighted: true,
  isCounted: false,
  hasFewValues: false,
  selects: null,
} as const satisfies ScalarUses;

/** A name says more of a row than a text does. */
const NAME = {
  searchWeight: 2,
  isHighlighted: true,
  isCounted: true,
  hasFewValues: false,
  selects: 'one',
} as const satisfies ScalarUses;

const USES = {
  string: NAME,
  uid: NAME,
  email: { ...NAME, searchWeight: null },
  text: { ...LONG_TEXT, isCounted: true },
  richtext: LONG_TEXT,
  blocks: LONG_TEXT,
  enumeration: { ...NAME, searchWeight: 1, hasFewValues: true, selects: 'few' },
  boolean: { ...NUMBER, selects: 'few' },
  integer: NUMBER,
  biginteger: NUMBER,
  decimal: NUMBER,
  float: NUMBER,
  date: NUMBER,
  time: TIME,
  datetime: TIME,
  json: NONE,
  password: NONE,
} as const satisfies Readonly<Record<ScalarType, ScalarUses>>;

/** Returns the uses of an attribute type: the only list of them. */
export function usesOf(type: ScalarType): ScalarUses {
  return USES[type];
}
