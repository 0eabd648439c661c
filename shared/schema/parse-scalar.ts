import { defined } from '../defined.ts';
import type { Attribute, ScalarAttribute, ScalarType } from './content-type.ts';
import { INT64, TIME_OF_DAY } from './scalar-forms.ts';
import type { RawScalar } from './schema-json.ts';
import type { ReportProblem } from './schema-problem.ts';

/** Properties of every attribute, known before its type is parsed. */
export type AttributeBase = Pick<
  Attribute,
  'name' | 'private' | 'required' | 'configurable' | 'localized' | 'condition' | 'varve'
>;

type Bound = number | string;

const TEXT = { accepts: (value: unknown) => typeof value === 'string', expected: 'text' };
const NUMBER = { accepts: (value: unknown) => typeof value === 'number', expected: 'a number' };

/** Expected form of a default value. */
const DEFAULTS: Record<
  Exclude<ScalarType, 'enumeration'>,
  { readonly accepts: (value: unknown) => boolean; readonly expected: string }
> = {
  string: TEXT,
  text: TEXT,
  richtext: TEXT,
  email: TEXT,
  password: TEXT,
  uid: TEXT,
  blocks: { accepts: Array.isArray, expected: 'a list of blocks' },
  integer: { accepts: Number.isSafeInteger, expected: 'a whole number' },
  biginteger: { accepts: isInt64, expected: 'a 64-bit integer' },
  decimal: NUMBER,
  float: NUMBER,
  boolean: { accepts: (value) => typeof value === 'boolean', expected: 'true or false' },
  date: { accepts: isInstant, expected: 'a date, yyyy-MM-dd' },
  time: { accepts: isTime, expected: 'a time, HH:mm:ss or HH:mm:ss.SSS' },
  datetime: { accepts: isInstant, expected: 'a date and time, ISO 8601' },
  json: { accepts: () => true, expected: 'any JSON' },
};

/** Parses a scalar attribute of `type`. Reports limits that contradict each other and defaults of another type. */
export function parseScalar(
  base: AttributeBase,
  type: ScalarType,
  raw: RawScalar,
  report: ReportProblem,
): ScalarAttribute {
  const bounds = type === 'biginteger' ? exactBounds(raw, report) : { min: raw.min, max: raw.max };
  reportContradictions(type, bounds, raw, report);
  const value = raw.default ?? undefined;
  const problem = value === undefined ? undefined : defaultProblem(type, value, raw.enum ?? []);
  if (problem !== undefined) report(['default'], `${problem}, found ${JSON.stringify(value)}`);
  return {
    ...base,
    kind: 'scalar',
    type,
    unique: raw.unique ?? false,
    searchable: raw.searchable ?? true,
    ...defined({
      default: type === 'biginteger' && value !== undefined ? String(value) : value,
      ...bounds,
      minLength: raw.minLength,
      maxLength: raw.maxLength,
      regex: raw.regex,
      enum: raw.enum,
      targetField: raw.targetField,
    }),
  };
}

/** Returns the bounds of a biginteger as decimal texts. */
function exactBounds(raw: RawScalar, report: ReportProblem) {
  const exact = (key: 'min' | 'max') => {
    const value = raw[key];
    if (value === undefined) return undefined;
    if (!isInt64(value)) report([key], `expected a 64-bit integer, found ${JSON.stringify(value)}`);
    return BigInt(value).toString();
  };
  return { min: exact('min'), max: exact('max') };
}

function reportContradictions(
  type: ScalarType,
  { min, max }: { readonly min: Bound | undefined; readonly max: Bound | undefined },
  raw: RawScalar,
  report: ReportProblem,
): void {
  const { minLength, maxLength, regex } = raw;
  if (min !== undefined && max !== undefined && isAbove(min, max, type)) {
    report(['min'], `min ${min} is above max ${max}`);
  }
  if (minLength !== undefined && maxLength !== undefined && minLength > maxLength) {
    report(['minLength'], `minLength ${minLength} is above maxLength ${maxLength}`);
  }
  if (regex !== undefined && !isRegularExpression(regex)) {
    report(['regex'], `not a regular expression: ${JSON.stringify(regex)}`);
  }
  const repeated = raw.enum?.findIndex((value, at) => raw.enum?.indexOf(value) !== at) ?? -1;
  if (repeated >= 0) report(['enum', repeated], `${JSON.stringify(raw.enum?.[repeated])} occurs twice`);
}

function isAbove(min: Bound, max: Bound, type: ScalarType): boolean {
  return type === 'biginteger' ? BigInt(min) > BigInt(max) : Number(min) > Number(max);
}

function isRegularExpression(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns why `value` cannot be the default of an attribute of `type`; undefined if it can. */
function defaultProblem(type: ScalarType, value: unknown, values: readonly string[]): string | undefined {
  if (type === 'enumeration') {
    return values.some((known) => known === value) ? undefined : `expected one of ${values.join(', ')}`;
  }
  const { accepts, expected } = DEFAULTS[type];
  return accepts(value) ? undefined : `expected ${expected}`;
}

function isInt64(value: unknown): value is number | string {
  const digits = typeof value === 'string' && /^-?\d+$/.test(value);
  if (!digits && !Number.isSafeInteger(value)) return false;
  const exact = BigInt(value as number | string);
  return exact >= INT64.min && exact <= INT64.max;
}

function isInstant(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value) && !Number.isNaN(Date.parse(value));
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && TIME_OF_DAY.test(value);
}
