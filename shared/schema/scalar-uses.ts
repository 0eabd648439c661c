import type { ScalarType } from './content-type.ts';

/** Uses of an attribute type's values in requests, besides filters and sorts. */
export type ScalarUses = {
  /** Weight of a match if the schema sets none; null: searches omit such values by default. */
  readonly searchWeight: number | null;
  /** True if matches can be highlighted in it. */
  readonly isHighlighted: boolean;
  /** True if a facet can count its values. */
  readonly isCounted: boolean;
  /** True if it has few values, so that a request for all facets counts them. */
  readonly hasFewValues: boolean;
  /** Number of rows that a value selects, if that is small. `one`: texts that are usually short and differ. `few`: one of a few values. */
  readonly selects: 'one' | 'few' | null;
  /** True if values are often long. Documents of other rows do not copy them. */
  readonly isLong: boolean;
};

const NONE: ScalarUses = {
  searchWeight: null,
  isHighlighted: false,
  isCounted: false,
  hasFewValues: false,
  selects: null,
  isLong: false,
};

const TIME: ScalarUses = { ...NONE, isCounted: true };

const NUMBER: ScalarUses = { ...TIME, hasFewValues: true };

const LONG_TEXT: ScalarUses = { ...NONE, searchWeight: 1, isHighlighted: true, isLong: true };

/** A match in a name says more about a row than a match in a text. */
const NAME: ScalarUses = { ...LONG_TEXT, searchWeight: 2, isCounted: true, selects: 'one', isLong: false };

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
  json: { ...NONE, isLong: true },
  password: NONE,
};

/** Returns the uses of an attribute type. There is no other list of them. */
export function usesOf(type: ScalarType): ScalarUses {
  return USES[type];
}
