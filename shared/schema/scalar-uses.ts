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

const NONE: ScalarUses = {
  searchWeight: null,
  isHighlighted: false,
  isCounted: false,
  hasFewValues: false,
  selects: null,
};

const TIME: ScalarUses = { ...NONE, isCounted: true };

const NUMBER: ScalarUses = { ...TIME, hasFewValues: true };

const LONG_TEXT: ScalarUses = { ...NONE, searchWeight: 1, isHighlighted: true };

/** A name says more of a row than a text does. */
const NAME: ScalarUses = { ...LONG_TEXT, searchWeight: 2, isCounted: true, selects: 'one' };

const USES: Readonly<Record<ScalarType, ScalarUses>> = {
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
};

/** Returns the uses of an attribute type: the only list of them. */
export function usesOf(type: ScalarType): ScalarUses {
  return USES[type];
}
