import { assertNever } from '../../shared/assert-never.ts';
import { canonicalJson } from '../../shared/canonical-json.ts';
import type { ScalarType } from '../../shared/schema/content-type.ts';
import {
  castBooleanValue,
  castNumber,
  hasUnstorableText,
  parseDate,
  parseDatetime,
  parseInt64,
  parseTime,
} from '../command/scalar-values.ts';

/** Returns a scalar of an archive in the form of events; undefined if it is not of the type. Ignores the attribute's other rules. */
export function valueToStore(type: ScalarType, value: unknown): unknown {
  if (hasUnstorableText(value)) return undefined;
  switch (type) {
    case 'string':
    case 'text':
    case 'richtext':
    case 'email':
    case 'uid':
    case 'password':
    case 'enumeration':
      return typeof value === 'object' ? undefined : String(value).toWellFormed();
    case 'integer':
    case 'decimal':
    case 'float':
      return finite(castNumber(value));
    case 'biginteger':
      return parseInt64(value)?.toString();
    case 'boolean':
      return typeof castBooleanValue(value) === 'boolean' ? castBooleanValue(value) : undefined;
    case 'date':
      return parsedText(parseDate(value));
    case 'time':
      return parsedText(parseTime(withMilliseconds(value)));
    case 'datetime':
      return parsedText(parseDatetime(value));
    case 'json':
    case 'blocks':
      return canonicalJson(value);
    default:
      return assertNever(type);
  }
}

const MAX_INT64 = 2n ** 63n - 1n;

/** Returns the nearest biginteger to a whole number beyond the range, which SQLite rounds; undefined for any other value. */
export function nearestInt64(type: ScalarType, value: unknown): string | undefined {
  if (type !== 'biginteger' || !['number', 'string'].includes(typeof value)) return undefined;
  const digits = typeof value === 'number' && Number.isInteger(value) ? String(BigInt(value)) : String(value);
  if (!/^[+-]?\d{19,40}$/.test(digits)) return undefined;
  const number = BigInt(digits);
  if (number > MAX_INT64) return String(MAX_INT64);
  return number < -MAX_INT64 - 1n ? String(-MAX_INT64 - 1n) : undefined;
}

function finite(number: number): number | undefined {
  return Number.isFinite(number) ? number : undefined;
}

function parsedText(parsed: { readonly value: string } | { readonly problem: string }): string | undefined {
  return 'value' in parsed ? parsed.value : undefined;
}

/** Cuts a time to milliseconds, because databases store microseconds. */
function withMilliseconds(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/(\.\d{3})\d+$/, '$1') : value;
}
