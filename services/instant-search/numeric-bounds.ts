import type { ScalarType } from '../../shared/schema/content-type.ts';
import { INT64 } from '../../shared/schema/scalar-forms.ts';
import type { OperatorName } from '../query/operators.ts';
import type { NumericOperator } from './instant-filter.ts';

/** A comparison of a column, its operand as in a query string. `none`: no value can satisfy it. */
export type NumericComparison =
  | { readonly operator: OperatorName; readonly operand: string }
  | { readonly operator: 'none' };

/** Values of a column that has whole ones only, in its unit: days of a date, milliseconds of a datetime. */
type Steps = {
  readonly unit: number;
  readonly min: bigint;
  readonly max: bigint;
  readonly text: (step: bigint) => string;
};

const DAY_MS = 86_400_000;
const FIRST_DAY = Date.parse('0000-01-01') / DAY_MS;
const LAST_DAY = Date.parse('9999-12-31') / DAY_MS;

/** Types whose values are not compared with numbers. */
const NO_NUMBERS = {
  string: null,
  text: null,
  richtext: null,
  blocks: null,
  email: null,
  password: null,
  uid: null,
  enumeration: null,
  boolean: null,
  time: null,
  json: null,
} as const;

/** `any`: a column of numbers with fractions. null: one without numbers. */
const STEPS: Readonly<Record<ScalarType, Steps | 'any' | null>> = {
  ...NO_NUMBERS,
  decimal: 'any',
  float: 'any',
  integer: { unit: 1, min: -(2n ** 31n), max: 2n ** 31n - 1n, text: String },
  biginteger: { unit: 1, ...INT64, text: String },
  date: {
    unit: DAY_MS,
    min: BigInt(FIRST_DAY),
    max: BigInt(LAST_DAY),
    text: (day) => new Date(Number(day) * DAY_MS).toISOString().slice(0, 10),
  },
  datetime: {
    unit: 1,
    min: BigInt(FIRST_DAY * DAY_MS),
    max: BigInt((LAST_DAY + 1) * DAY_MS - 1),
    text: (ms) => new Date(Number(ms)).toISOString(),
  },
};

const OPERATOR: Readonly<Record<Exclude<NumericOperator, '!='>, OperatorName>> = {
  '<': '$lt',
  '<=': '$lte',
  '>': '$gt',
  '>=': '$gte',
  '=': '$eq',
};

/** Returns whether numbers can be compared with a column: dates are milliseconds, as in `facets_stats`. */
export function isNumeric(type: ScalarType): boolean {
  return STEPS[type] !== null;
}

/** The comparison of a numeric column with any number, also one that the column cannot contain. */
export function compareNumber(
  type: ScalarType,
  operator: Exclude<NumericOperator, '!='>,
  text: string,
): NumericComparison {
  const steps = STEPS[type];
  if (steps === 'any' || steps === null) return { operator: OPERATOR[operator], operand: text };
  const [below, above] = stepsAround(text, steps.unit);
  if (operator === '=')
    return below === above && below >= steps.min && below <= steps.max
      ? { operator: '$eq', operand: steps.text(below) }
      : { operator: 'none' };
  // `x < 2.5` is `x < 3`, and `x >= 2.5` too means from 3 on.
  const step = operator === '<' || operator === '>=' ? above : below;
  const isUpper = operator === '<' || operator === '<=';
  if (step > steps.max) return { operator: isUpper ? '$lte' : '$gt', operand: steps.text(steps.max) };
  if (step < steps.min) return { operator: isUpper ? '$lt' : '$gte', operand: steps.text(steps.min) };
  return { operator: OPERATOR[operator], operand: steps.text(step) };
}

/** The last step at or below a number, and the first at or above it. */
function stepsAround(text: string, unit: number): readonly [bigint, bigint] {
  if (/^[+-]?\d+$/.test(text) && unit === 1) return [BigInt(text), BigInt(text)];
  const steps = Number(text) / unit;
  return [BigInt(Math.floor(steps)), BigInt(Math.ceil(steps))];
}
