import { parseShallowJson } from '../../shared/json-depth.ts';
import { RequestError } from '../../shared/request-error.ts';

/** A parameter and its value: JSON, or text of a query string. */
export type RawParameter = { readonly param: string; readonly value: unknown };

const FLAGS = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  ['true', true],
  ['false', false],
]);

/** Returns the text. Throws RequestError for anything else, as all readers here do. */
export function readText({ param, value }: RawParameter): string {
  return typeof value === 'string' ? value : refuseParameter({ param, value }, 'text');
}

/** Returns a whole number within bounds, both included. It may be text. */
export function readWhole(
  { param, value }: RawParameter,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const isText = typeof value === 'string' && /^-?\d+$/.test(value);
  const number = isText ? Number(value) : typeof value === 'number' ? value : Number.NaN;
  if (Number.isSafeInteger(number) && number >= min && number <= max) return number;
  return refuseParameter({ param, value }, `a whole number from ${min} to ${max}`);
}

/** Returns a boolean. It may be text. */
export function readFlag(given: RawParameter): boolean {
  return FLAGS.get(given.value) ?? refuseParameter(given, 'true or false');
}

/** A list of names: JSON, or text with commas. */
export function readNames(given: RawParameter, most: number): readonly string[] {
  const value = readList(given);
  const list = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value;
  if (!Array.isArray(list) || !list.every((name) => typeof name === 'string'))
    return refuseParameter(given, 'a list of names');
  const names = [...new Set(list as readonly string[])].filter((name) => name !== '');
  return names.length > most ? refuseParameter(given, `at most ${most} names`) : names;
}

/** Reads a list; in a query string it is JSON. */
export function readList({ param, value }: RawParameter): unknown {
  if (typeof value !== 'string' || !value.trimStart().startsWith('[')) return value;
  try {
    return parseShallowJson(value);
  } catch {
    return refuseParameter({ param, value }, 'a list in JSON');
  }
}

const SHOWN = 200;

/** Throws the RequestError of a wrong value. A long one is shortened. */
export function refuseParameter({ param, value }: RawParameter, accepted: string): never {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const found = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  throw new RequestError('invalid-query', `Invalid parameter '${param}': found ${found}`, {
    param,
    found,
    accepted,
  });
}
