import { jsonText } from '../../shared/canonical-json.ts';
import { parseShallowJson } from '../../shared/json-depth.ts';
import type { Scalar } from '../../shared/read-index/bool-query.ts';
import { timeOfDayMilliseconds } from '../../shared/read-index/column.ts';
import type { ScalarType } from '../../shared/schema/content-type.ts';
import { parseInstant } from '../../shared/schema/parse-instant.ts';
import { dayIn, INT64, isDay, TIME_OF_DAY } from '../../shared/schema/scalar-forms.ts';
import type { QueryValue } from './query-string.ts';

/** A cast operand, or Strapi's message (if it has one) with the accepted forms. */
export type Cast =
  | { readonly ok: true; readonly value: Scalar }
  | { readonly ok: false; readonly message: string; readonly accepted: string };

const MIN_INTEGER = -2_147_483_648;
const MAX_INTEGER = 2_147_483_647;
const TRUE_TEXTS = ['true', 't', '1'];
const FALSE_TEXTS = ['false', 'f', '0'];
/** Texts of booleans. */
export const BOOLEAN_TEXTS = [...TRUE_TEXTS, ...FALSE_TEXTS];

/** Converts text of a query string to a column value of the attribute's type (SEMANTICS section 2, values by type). */
export function castOperand(type: ScalarType, text: string): Cast {
  switch (type) {
    case 'integer':
      return castInteger(text);
    case 'decimal':
    case 'float':
      return castNumber(text);
    case 'biginteger':
      return castLong(text);
    case 'boolean':
      return castBoolean(text);
    case 'date':
      return castDate(text);
    case 'time':
      return TIME_OF_DAY.test(text)
        ? { ok: true, value: timeOfDayMilliseconds(text) }
        : refused('Invalid time format, expected HH:mm:ss.SSS', 'HH:mm:ss or HH:mm:ss.SSS');
    case 'datetime':
      return castInstant(text);
    case 'json':
    case 'blocks':
      return castJson(text);
    default:
      return castText(text);
  }
}

/** Converts text for operators that compare text forms. */
export function castText(text: string): Cast {
  return text.includes('\0')
    ? refused('Invalid value: text may not contain the character U+0000', 'text without U+0000')
    : { ok: true, value: text };
}

/**
 * Converts text for booleans and `$null`: `true`, `t` and `1`, or `false`, `f`, `0` and the empty text. Refuses other values, which Strapi
 * treats as true.
 */
export function castBoolean(text: string): Cast {
  const value = text === '' ? false : booleanOf(text);
  return value === undefined
    ? refused(`Invalid boolean value ${text}`, BOOLEAN_TEXTS.join(', '))
    : { ok: true, value };
}

/** Returns the boolean of a text; undefined for any other value, and for the empty text. */
export function booleanOf(value: QueryValue | undefined): boolean | undefined {
  if (typeof value !== 'string' || !BOOLEAN_TEXTS.includes(value)) return undefined;
  return TRUE_TEXTS.includes(value);
}

function castNumber(text: string): Cast {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? { ok: true, value } : refused(`Invalid number ${text}`, 'a number');
}

function castInteger(text: string): Cast {
  const cast = castNumber(text);
  const valid =
    cast.ok &&
    Number.isInteger(cast.value) &&
    Number(cast.value) >= MIN_INTEGER &&
    Number(cast.value) <= MAX_INTEGER;
  return valid
    ? cast
    : refused(`Invalid integer ${text}`, `an integer from ${MIN_INTEGER} to ${MAX_INTEGER}`);
}

function castLong(text: string): Cast {
  const digits = text.trim();
  if (/^[+-]?\d+$/.test(digits)) {
    const value = BigInt(digits.startsWith('+') ? digits.slice(1) : digits);
    if (value >= INT64.min && value <= INT64.max) return { ok: true, value };
  }
  return refused(`Invalid integer ${text}`, `an integer from ${INT64.min} to ${INT64.max}`);
}

/** Ignores everything after the day: an ISO datetime gives its written date. */
function castDate(text: string): Cast {
  const date = dayIn(text);
  if (date === undefined) return refused('Invalid format, expected yyyy-MM-dd', 'yyyy-MM-dd');
  if (!isDay(date)) return refused('Invalid date', 'a day that exists');
  return { ok: true, value: Date.parse(`${date}T00:00:00.000Z`) };
}

function castInstant(text: string): Cast {
  const value = parseInstant(text);
  return value === null
    ? refused(
        'Invalid format, expected a timestamp or an ISO date',
        'an ISO 8601 date or datetime, or milliseconds since 1970-01-01',
      )
    : { ok: true, value };
}

function castJson(text: string): Cast {
  try {
    return { ok: true, value: jsonText(parseShallowJson(text)) };
  } catch {
    return refused(`Invalid JSON ${text}`, 'JSON text, e.g. {"a":1} or "text" in quotes');
  }
}

function refused(message: string, accepted: string): Cast {
  return { ok: false, message, accepted };
}
