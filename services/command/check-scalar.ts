import { assertNever } from '../../shared/assert-never.ts';
import { canonicalJson } from '../../shared/canonical-json.ts';
import { isTooDeep, MOST_JSON_LEVELS } from '../../shared/json-depth.ts';
import type { ScalarAttribute } from '../../shared/schema/content-type.ts';
import { storesAnyText } from '../../shared/schema/custom-fields.ts';
import { hasMilliseconds } from '../../shared/schema/time-form.ts';
import { type Check, isComplete, report, reportType } from './check.ts';
import { checkBlocks } from './check-blocks.ts';
import { typeMessage } from './describe-value.ts';
import {
  castBooleanValue,
  castNumber,
  hasInfinity,
  hasUnstorableText,
  isEmail,
  parseDate,
  parseDatetime,
  parseInt64,
  parseTime,
  roundDecimal,
} from './scalar-values.ts';

/** varchar(255) in Strapi; text and richtext are unlimited. */
const SHORT_TEXT = 255;
const INT32 = 2 ** 31;
/** Limit of numeric(10,2). */
const DECIMAL_LIMIT = 1e8;
const UID_FORM = /^[A-Za-z0-9-_.~]*$/;

/**
 * Returns the stored form of a scalar attribute's value; undefined if it is absent and has no default. Reports problems to `check`.
 * Messages, coercions and strengths: SEMANTICS section 13, areas `write.types` and `write.constraints`.
 */
export function checkScalar(check: Check, attribute: ScalarAttribute, path: string, sent: unknown): unknown {
  const value = withDefault(check, attribute, sent);
  if (value === undefined) {
    if (check.mode === 'creation' && attribute.required && isComplete(check)) {
      report(check, path, `${path} must be defined.`);
    }
    return undefined;
  }
  if (value === null) return checkNull(check, attribute, path);
  if (hasUnstorableText(value)) return reportUnstorableText(check, path, value);
  return checkValue(check, attribute, path, value);
}

function reportUnstorableText(check: Check, path: string, value: unknown): unknown {
  return report(check, path, `${path} must not contain NUL or unpaired surrogates`, value);
}

function withDefault(check: Check, attribute: ScalarAttribute, sent: unknown): unknown {
  if (sent !== undefined) return sent;
  if (check.mode === 'publish') return null;
  return check.mode === 'creation' ? attribute.default : undefined;
}

function checkNull(check: Check, attribute: ScalarAttribute, path: string): null {
  if (!attribute.required || !isComplete(check)) return null;
  const type = YUP_TYPES[attribute.type];
  if (type === 'mixed') {
    report(check, path, `${path} ${check.mode === 'update' ? 'cannot be null' : 'must be defined'}.`, null);
  } else if (type === 'number') report(check, path, typeMessage(path, type, Number.NaN, null), Number.NaN);
  else reportType(check, path, type, null);
  return null;
}

/** Types that Strapi's message about null names. `mixed` types have their own messages. */
const YUP_TYPES = {
  string: 'string',
  text: 'string',
  richtext: 'string',
  email: 'string',
  password: 'string',
  uid: 'string',
  enumeration: 'string',
  integer: 'number',
  decimal: 'number',
  float: 'number',
  boolean: 'mixed',
  blocks: 'array',
  biginteger: 'mixed',
  date: 'mixed',
  time: 'mixed',
  datetime: 'mixed',
  json: 'mixed',
} as const satisfies Record<ScalarAttribute['type'], string>;

function checkValue(check: Check, attribute: ScalarAttribute, path: string, value: unknown): unknown {
  switch (attribute.type) {
    case 'string':
    case 'text':
    case 'richtext':
    case 'email':
    case 'uid':
      return checkText(check, attribute, path, value);
    case 'password':
      return checkPassword(check, attribute, path, value);
    case 'enumeration':
      return checkEnumeration(check, attribute, path, value);
    case 'integer':
    case 'decimal':
    case 'float':
      return checkNumber(check, attribute, path, value);
    case 'biginteger':
      return checkBiginteger(check, attribute, path, value);
    case 'boolean':
      return checkBoolean(check, path, value);
    case 'date':
      return read(check, parseDate(value));
    case 'time':
      return read(check, parseTime(value, hasMilliseconds(attribute)));
    case 'datetime':
      return read(check, parseDatetime(value));
    case 'json':
      return storesAnyText(attribute) && typeof value === 'string' ? value : checkJson(check, path, value);
    case 'blocks':
      return checkBlocks(check, path, value);
    default:
      return assertNever(attribute.type);
  }
}

function checkText(check: Check, attribute: ScalarAttribute, path: string, sent: unknown): unknown {
  if (typeof sent !== 'string') return reportType(check, path, 'string', sent);
  // Half a surrogate pair becomes U+FFFD, as on every way into UTF-8.
  const value = sent.toWellFormed();
  const { minLength, regex, type } = attribute;
  if (type === 'email' && isComplete(check)) {
    checkMaxLength(check, attribute, path, value);
    checkRegex(check, attribute, path, value);
    if (value === '') report(check, path, `${path} cannot be empty`, value);
    else if (value.length > SHORT_TEXT || !isEmail(value))
      report(check, path, `${path} must be a valid email`, value);
    return value;
  }
  if (minLength !== undefined && isComplete(check) && value.length < minLength) {
    report(check, path, `${path} must be at least ${minLength} characters`, value);
  }
  checkMaxLength(check, attribute, path, value);
  if (regex !== undefined) checkRegex(check, attribute, path, value);
  if (type === 'uid' && isComplete(check)) {
    // The regex of the schema replaces the default form. In Strapi it applies in addition to the check of every text.
    const form = regex === undefined ? UID_FORM : new RegExp(regex);
    if (!form.test(value)) report(check, path, `${path} must match the following: "${form}"`, value);
  }
  return value;
}

function checkMaxLength(check: Check, attribute: ScalarAttribute, path: string, value: string): void {
  const { type, maxLength } = attribute;
  const limit = maxLength ?? (type === 'text' || type === 'richtext' ? undefined : SHORT_TEXT);
  if (limit !== undefined && value.length > limit) {
    report(check, path, `${path} must be at most ${limit} characters`, value);
  }
}

function checkRegex(check: Check, attribute: ScalarAttribute, path: string, value: string): void {
  const { regex, required } = attribute;
  if (regex === undefined || !isComplete(check) || (value === '' && !required)) return;
  const pattern = new RegExp(regex);
  if (!pattern.test(value)) report(check, path, `${path} must match the following: "${pattern}"`, value);
}

/** A password is validated as clear text and stored as a hash. A stored entry has only the hash, whose length is meaningless. */
function checkPassword(check: Check, attribute: ScalarAttribute, path: string, value: unknown): unknown {
  if (check.mode === 'publish') return value;
  const text = checkText({ ...check, strength: check.passwords }, attribute, path, value);
  return typeof text === 'string' ? check.hashes.get(text) : undefined;
}

function checkEnumeration(check: Check, attribute: ScalarAttribute, path: string, value: unknown): unknown {
  const isText = typeof value !== 'object';
  if (!isText) reportType(check, path, 'string', value);
  const read = isText ? String(value) : value;
  const accepted = attribute.enum ?? [];
  if (accepted.includes(read as string)) return read;
  // The empty text at the end of the list is null, which Strapi also accepts.
  const values = [...accepted, ''].join(', ');
  return report(check, path, `${path} must be one of the following values: ${values}`, read);
}

function checkNumber(check: Check, attribute: ScalarAttribute, path: string, value: unknown): unknown {
  const number = castNumber(value);
  if (Number.isNaN(number)) return report(check, path, typeMessage(path, 'number', number, value), number);
  const { type, min, max } = attribute;
  if (type === 'integer' && !Number.isInteger(number)) {
    report(check, path, `${path} must be an integer`, number);
  }
  if (min !== undefined && isComplete(check) && number < Number(min)) {
    report(check, path, `${path} must be greater than or equal to ${min}`, number);
  }
  if (max !== undefined && number > Number(max)) {
    report(check, path, `${path} must be less than or equal to ${max}`, number);
  } else checkRange(check, type, path, number);
  return type === 'decimal' && Math.abs(number) < DECIMAL_LIMIT ? roundDecimal(number) : number;
}

/** Reports values that Strapi's database refuses with a 500. */
function checkRange(check: Check, type: ScalarAttribute['type'], path: string, number: number): void {
  if (type === 'integer' && Number.isInteger(number) && (number < -INT32 || number >= INT32)) {
    report(check, path, `${path} must be between ${-INT32} and ${INT32 - 1}`, number);
  }
  if (type === 'decimal' && !(Math.abs(roundDecimal(number)) < DECIMAL_LIMIT)) {
    report(check, path, `${path} must be between -99999999.99 and 99999999.99`, number);
  }
  if (type === 'float' && !Number.isFinite(number))
    report(check, path, `${path} must be a finite number`, number);
}

function checkBiginteger(check: Check, attribute: ScalarAttribute, path: string, value: unknown): unknown {
  const integer = parseInt64(value);
  if (integer === undefined) return report(check, path, `${path} must be a valid integer`, value);
  const { min, max } = attribute;
  if (min !== undefined && isComplete(check) && integer < BigInt(min)) {
    report(check, path, `${path} must be greater than or equal to ${min}`, value);
  }
  if (max !== undefined && integer > BigInt(max)) {
    report(check, path, `${path} must be less than or equal to ${max}`, value);
  }
  return String(integer);
}

function checkBoolean(check: Check, path: string, value: unknown): unknown {
  const boolean = castBooleanValue(value);
  return typeof boolean === 'boolean' ? boolean : reportType(check, path, 'boolean', value);
}

/** Text is JSON text, as in Strapi; a text that is not JSON answers 400 instead of 500. */
function checkJson(check: Check, path: string, value: unknown): unknown {
  if (typeof value !== 'string') return checkJsonValue(check, path, value);
  if (check.mode === 'publish') return value;
  if (isTooDeep(value))
    return report(check, path, `${path} must nest at most ${MOST_JSON_LEVELS} levels deep`, value);
  try {
    const parsed: unknown = JSON.parse(value);
    // If the JSON value is a string, the stored value is the text with its quotes, as in Strapi.
    return typeof parsed === 'string' ? value : checkJsonValue(check, path, parsed);
  } catch {
    return report(check, path, `${path} must be a JSON value, text must be JSON text`, value);
  }
}

/** An escaped NUL appears only when the text is parsed. JSON.parse reads 1e400 as Infinity, which would be stored as null. */
function checkJsonValue(check: Check, path: string, value: unknown): unknown {
  if (hasUnstorableText(value)) return reportUnstorableText(check, path, value);
  if (hasInfinity(value))
    return report(check, path, `${path} must not contain numbers beyond 1.8e308`, value);
  return canonicalJson(value);
}

function read(check: Check, parsed: { readonly value: string } | { readonly problem: string }): unknown {
  if ('value' in parsed) return parsed.value;
  check.unreadable.push(parsed.problem);
  return undefined;
}
