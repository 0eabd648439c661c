import * as z from 'zod';
import { plainText } from '../../shared/plain-text.ts';
import { timeOfDayMilliseconds } from '../../shared/read-index/column.ts';
import { timeText } from '../../shared/read-index/instant-text.ts';
import { parseInstant } from '../../shared/schema/parse-instant.ts';
import { dayIn, INT64, isDay, TIME_OF_DAY } from '../../shared/schema/scalar-forms.ts';

const LETTER = /^[\p{L}\p{M}\p{N}]$/u;

type Parsed = { readonly value: string } | { readonly problem: string };

/** Converts a number, a text without its blanks or, as Strapi does, a list such as `[1]` to a number. Returns NaN for other values. */
export function castNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') {
    const text = value.replace(/\s/g, '');
    return text === '' ? Number.NaN : Number(text);
  }
  return Number.parseFloat(plainText(value));
}

/** Converts a boolean, `true`/`false` in any case, 1 or 0 to a boolean; returns other values unchanged. */
export function castBooleanValue(value: unknown): unknown {
  if (typeof value === 'boolean') return value;
  const text = plainText(value).toLowerCase();
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : value;
}

/** Converts an integer, or its decimal text with blanks around it, to a 64-bit integer; returns undefined for other values. */
export function parseInt64(value: unknown): bigint | undefined {
  const isInteger = typeof value === 'number' ? Number.isInteger(value) : isIntegerText(value);
  if (!isInteger) return undefined;
  const integer = BigInt(typeof value === 'string' ? value.trim().replace(/^\+/, '') : (value as number));
  return integer < INT64.min || integer > INT64.max ? undefined : integer;
}

function isIntegerText(value: unknown): boolean {
  return typeof value === 'string' && /^\s*[+-]?\d{1,30}\s*$/.test(value);
}

/**
 * Rounds to two decimal places, half away from zero, by the number's own decimal text as numeric(10,2) does: 1.005 → 1.01, where binary
 * arithmetic gives 1.
 */
export function roundDecimal(number: number): number {
  const text = String(Math.abs(number));
  if (!text.includes('e') && (text.split('.')[1] ?? '').length <= 2) return number;
  const [mantissa = '0', exponent = '0'] = text.split('e');
  const hundreds = Math.round(Number(`${mantissa}e${Number(exponent) + 2}`));
  const rounded = Number(`${hundreds}e-2`);
  return number < 0 && rounded !== 0 ? -rounded : rounded;
}

/** Parses `yyyy-MM-dd` and ignores the rest of the text. Problems use Strapi's words. */
export function parseDate(value: unknown): Parsed {
  const date = typeof value === 'string' ? dayIn(value) : undefined;
  if (date === undefined) return { problem: 'Invalid format, expected yyyy-MM-dd' };
  return isDay(date) ? { value: date } : { problem: 'Invalid date' };
}

/** Parses `HH:mm:ss` with up to three digits of a second. It is stored as in answers: without trailing zeros, unless it is `whole`. */
export function parseTime(value: unknown, whole = false): Parsed {
  if (typeof value !== 'string') return { problem: `Expected a string, got a ${typeof value}` };
  if (!TIME_OF_DAY.test(value)) {
    return { problem: 'Invalid time format, expected HH:mm:ss.SSS' };
  }
  return { value: timeText(timeOfDayMilliseconds(value), whole) };
}

/** Limits of ISO texts: years 0000–9999. */
const FIRST_MILLISECOND = -62_167_219_200_000;
const LAST_MILLISECOND = 253_402_300_799_999;

/** Parses ISO 8601 (a date alone means midnight, no offset means UTC) or epoch milliseconds. It is stored in UTC with milliseconds. */
export function parseDatetime(value: unknown): Parsed {
  const isReadable = typeof value === 'string' || typeof value === 'number';
  const milliseconds = isReadable ? parseInstant(String(value)) : null;
  return milliseconds !== null && milliseconds >= FIRST_MILLISECOND && milliseconds <= LAST_MILLISECOND
    ? { value: new Date(milliseconds).toISOString() }
    : { problem: 'Invalid format, expected a timestamp or an ISO date' };
}

/**
 * Returns whether a value contains NUL at any depth, or half a surrogate pair inside JSON. PostgreSQL stores neither: its texts cannot
 * contain NUL, and `jsonb` refuses half a pair.
 */
export function hasUnstorableText(value: unknown): boolean {
  return typeof value === 'string' ? value.includes('\u0000') : hasUnstorableMember(value);
}

function hasUnstorableMember(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\u0000') || !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasUnstorableMember);
  return Object.entries(value).some(([key, child]) => hasUnstorableMember(key) || hasUnstorableMember(child));
}

/** Returns whether a JSON value has a number that no double can have. */
export function hasInfinity(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) === Number.POSITIVE_INFINITY;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfinity);
}

/**
 * Returns whether a text is an e-mail address by Strapi's rules. A domain may have letters of any script, and its last label may be a
 * single letter.
 */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const domain = text
    .slice(at + 1)
    .replace(/[^\p{ASCII}]/gu, (letter) => (LETTER.test(letter) ? 'x' : letter));
  // The library requires two letters at the end, and accepts an address in brackets.
  return !domain.startsWith('[') && z.regexes.rfc5322Email.test(`${text.slice(0, at)}@${domain}x`);
}

/** Characters with a meaning in a list of addresses: quotes, comments, names, separators. */
const LIST_SYNTAX = /[\s"<>(),;:\\]/;

/**
 * Returns whether a text is an address to which mail can be sent. A quoted part is refused: a mail program could read another address
 * in it, and send a code to somebody else.
 */
export function isMailAddress(text: string): boolean {
  return isEmail(text) && !LIST_SYNTAX.test(text);
}
