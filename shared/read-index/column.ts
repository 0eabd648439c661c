import { jsonText } from '../canonical-json.ts';
import type { ScalarType } from '../schema/content-type.ts';
import type { FieldType, Scalar } from './bool-query.ts';
import { dateText, timeText } from './instant-text.ts';

/** Returns how a read index stores and compares an attribute's values. */
export function fieldTypeOf(type: ScalarType): FieldType {
  return FIELD_TYPES[type];
}

const FIELD_TYPES: Readonly<Record<ScalarType, FieldType>> = {
  string: 'keyword',
  text: 'keyword',
  richtext: 'keyword',
  email: 'keyword',
  password: 'keyword',
  uid: 'keyword',
  enumeration: 'keyword',
  integer: 'number',
  decimal: 'number',
  float: 'number',
  biginteger: 'long',
  boolean: 'boolean',
  time: 'time-of-day',
  date: 'instant',
  datetime: 'instant',
  json: 'json',
  blocks: 'json',
};

/**
 * Returns the column value for an attribute's value, which has the form of rows and answers. There a biginteger is a decimal string, a date
 * `yyyy-MM-dd`, a time `HH:mm:ss[.SSS]`, and a datetime ISO 8601 in UTC. null and undefined give null.
 */
export function columnValue(type: ScalarType, value: unknown): Scalar | null {
  if (value === null || value === undefined) return null;
  switch (fieldTypeOf(type)) {
    case 'keyword':
      return String(value);
    case 'number':
      return Number(value);
    case 'long':
      return BigInt(value as string | number);
    case 'boolean':
      return Boolean(value);
    case 'time-of-day':
      return timeOfDayMilliseconds(String(value));
    case 'instant':
      return Date.parse(String(value));
    case 'json':
      return jsonText(value);
  }
}

/** Returns the milliseconds since midnight of `HH:mm:ss[.SSS]`. */
export function timeOfDayMilliseconds(time: string): number {
  const [hours = '0', minutes = '0', seconds = '0'] = time.split(':');
  return Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000);
}

/**
 * Returns the text that text operators see for a column value: PostgreSQL's `CAST(x AS VARCHAR)` (SEMANTICS section 2).
 * Dates `2000-01-01`, datetimes `2024-01-01 00:00:00[.5]`, times `08:30:00[.5]`, decimals with two digits, booleans
 * `true`.
 */
export function textForm(type: ScalarType, value: Scalar): string {
  switch (type) {
    case 'decimal':
      return Number(value).toFixed(2);
    case 'float':
      return floatText(Number(value));
    case 'date':
      return dateText(Number(value));
    case 'datetime':
      return `${dateText(Number(value))} ${timeText(Number(value))}`;
    case 'time':
      return timeText(Number(value));
    default:
      return String(value);
  }
}

/** Returns PostgreSQL's shortest text of a double. It has an exponent, of at least two digits, from 1e+15 up and below 1e-04. */
function floatText(value: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const magnitude = Math.abs(value);
  // Between these bounds JavaScript's shortest text has no exponent either.
  if (magnitude >= 1e-4 && magnitude < 1e15) return String(value);
  const [mantissa = '', exponent = '0'] = value.toExponential().split('e');
  const sign = exponent.startsWith('-') ? '-' : '+';
  return `${mantissa}e${sign}${exponent.replace(/^[+-]/, '').padStart(2, '0')}`;
}

/**
 * Compares texts in code point order (SEMANTICS section 2, C.UTF-8). UTF-16 order differs from it only where surrogates meet U+E000–U+FFFF.
 */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return surrogatesLast(left) - surrogatesLast(right);
  }
  return a.length - b.length;
}

function surrogatesLast(unit: number): number {
  if (unit < 0xd800) return unit;
  // E000–FFFF moves down to D800–F7FF. The surrogates D800–DFFF (code points above FFFF) move up after them.
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
