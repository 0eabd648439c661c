import qs from 'qs';
import { RequestError } from '../../shared/request-error.ts';
import { createParametersParser } from './parse-parameters.ts';

/** Value in a query string: text, null for a key without `=`, lists and objects by bracket key. Objects have no prototype. */
export type QueryValue = string | null | readonly QueryValue[] | QueryObject;
export type QueryObject = { readonly [key: string]: QueryValue | undefined };

/** Maximum names in the path of an attribute, which is the depth to which filters nest. */
export const MOST_NAMES = 20;
/** Maximum bracket segments after the first name. qs returns the deeper part as one literal key, which no stage accepts. */
const DEPTH = MOST_NAMES;
/** More parameters than a URL of 16 KiB can have. A request with more is refused, while Strapi drops the rest. */
const PARAMETER_LIMIT = 1000;

const OPTIONS = {
  depth: DEPTH,
  parameterLimit: PARAMETER_LIMIT,
  // As many entries as there can be parameters, so that an explicit list never becomes an object, which Strapi drops.
  arrayLimit: PARAMETER_LIMIT,
  strictNullHandling: true,
  plainObjects: true,
  allowPrototypes: true,
  decoder: decodePart,
} as const;

/** Parses the text of a query string without `?` into an object, using qs with all limits explicit. */
export function parseQueryString(text: string): QueryObject {
  if (text === '') return {};
  refuseTooManyParameters(text);
  return parseParameters(text);
}

const parseParameters = createParametersParser((text) => qs.parse(text, OPTIONS) as QueryObject);

/** Returns whether a value was made of keys in brackets with names. */
export function isQueryObject(value: QueryValue | undefined): value is QueryObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether a value was made of keys in brackets without a name or with numbers. */
export function isQueryList(value: QueryValue | undefined): value is readonly QueryValue[] {
  return Array.isArray(value);
}

function decodePart(
  text: string,
  decode: (text: string, decoder?: unknown, charset?: string) => string,
  charset: string,
  part: 'key' | 'value',
): string {
  const decoded = decode(text, undefined, charset);
  // qs always drops this name: refuse it instead of ignoring its value.
  if (part === 'key' && decoded.includes('__proto__')) refusePrototypeName(decoded);
  return decoded;
}

function refusePrototypeName(key: string): void {
  const names = key.split(/[[\]]+/);
  if (!names.includes('__proto__')) return;
  const param = names.find((name) => name !== '') ?? key;
  throw new RequestError('invalid-query', 'Invalid key __proto__', {
    key: '__proto__',
    path: null,
    source: 'query',
    param,
    found: key,
    accepted: 'a name from the content type',
  });
}

function refuseTooManyParameters(text: string): void {
  let count = 1;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) count++;
  if (count <= PARAMETER_LIMIT) return;
  throw new RequestError(
    'query-too-large',
    `Too many query parameters (${count}). The maximum is ${PARAMETER_LIMIT}.`,
    {
      source: 'query',
      found: count,
      accepted: `at most ${PARAMETER_LIMIT} parameters`,
    },
  );
}
