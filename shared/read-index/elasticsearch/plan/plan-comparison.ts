import { assertNever } from '../../../assert-never.ts';
import { INT64 } from '../../../schema/scalar-forms.ts';
import {
  type BoolQuery,
  PUBLICATION_STATE_FIELD,
  PUBLICATION_STATES,
  type Scalar,
} from '../../bool-query.ts';
import { textForm } from '../../column.ts';
import { type TextQuery, textComparison } from '../../compare-text.ts';
import { foldText } from '../../fold-text.ts';
import { PREFIX_BYTES, storedValue } from '../documents/stored-value.ts';
import { needleGrams } from '../documents/text-grams.ts';
import { formTerm, storedColumn } from '../documents/write-columns.ts';
import type { Place, PlacedScalar } from '../layout/document-layout.ts';
import type { StoredValue } from '../layout/index-document.ts';
import { type Dsl, type RangeBound, termsDsl } from './dsl.ts';
import { LONGEST_PHRASE, longText, phrase } from './long-text.ts';
import { ALL, allPlanned, anyPlanned, leaf, NONE, type PlannedQuery } from './planned-query.ts';

export type Comparison = Extract<BoolQuery, { readonly field: string }>;
type RangeComparison = Extract<BoolQuery, { readonly kind: 'range' }>;

/** Longer than any text form of a number, date or time. */
const LONGEST_FORM = 64;

/** Plans a comparison of a column at a node; undefined if the node is a copy without the necessary fields. */
export function planComparison(
  place: Place,
  scalar: PlacedScalar,
  query: Comparison,
): PlannedQuery | undefined {
  const field = `${place.prefix}f.${scalar.field}`;
  if (query.kind === 'exists') return leaf({ exists: { field } });
  const finite = finiteValues(scalar);
  if (finite !== undefined) {
    const wanted = finite.filter((value) => satisfies(scalar, query, value));
    return planValues(scalar, field, wanted);
  }
  switch (query.kind) {
    case 'term':
      return planValues(scalar, field, [query.value]);
    case 'terms':
      return planValues(scalar, field, query.values);
    case 'range':
      return planRange(scalar, field, query);
    case 'text':
      return planText(place, scalar, field, query);
    default:
      return assertNever(query);
  }
}

/** Returns all possible values of a column that by its nature has few. A comparison is evaluated on these values here. */
function finiteValues({ name, fieldType }: PlacedScalar): readonly Scalar[] | undefined {
  if (name === PUBLICATION_STATE_FIELD) return PUBLICATION_STATES;
  return fieldType === 'boolean' ? [false, true] : undefined;
}

function satisfies(
  scalar: PlacedScalar,
  query: Exclude<Comparison, { kind: 'exists' }>,
  value: Scalar,
): boolean {
  switch (query.kind) {
    case 'term':
      return value === query.value;
    case 'terms':
      return query.values.includes(value);
    case 'range': {
      const { gt, gte, lt, lte } = query;
      if ((gt !== undefined && value <= gt) || (gte !== undefined && value < gte)) return false;
      return !((lt !== undefined && value >= lt) || (lte !== undefined && value > lte));
    }
    case 'text':
      return textComparison(query)(textForm(scalar.type, value));
    default:
      return assertNever(query);
  }
}

function planValues(scalar: PlacedScalar, field: string, values: readonly Scalar[]): PlannedQuery {
  const stored = new Set<StoredValue>();
  for (const value of values) {
    if (isStorable(scalar, value)) stored.add(storedColumn(scalar, value));
  }
  return stored.size === 0 ? NONE : leaf(termsDsl(field, [...stored]));
}

/** Returns whether a column can contain the value. Elasticsearch refuses impossible operands. */
function isStorable({ fieldType, type }: PlacedScalar, value: Scalar): boolean {
  switch (fieldType) {
    case 'long':
      return BigInt(value) >= INT64.min && BigInt(value) <= INT64.max;
    case 'number':
      return type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
    case 'instant':
    case 'time-of-day':
      return Number.isSafeInteger(value);
    default:
      return true;
  }
}

/** Plans a range, bound by bound. `allPlanned` merges the bounds if they fit into one range. */
function planRange(scalar: PlacedScalar, field: string, query: RangeComparison): PlannedQuery {
  const plan = allPlanned(BOUNDS.map((bound) => planBound(scalar, field, bound, query[bound])));
  return plan.kind === 'all' ? leaf({ exists: { field } }) : plan;
}

const BOUNDS: readonly RangeBound[] = ['gt', 'gte', 'lt', 'lte'];

function planBound(
  scalar: PlacedScalar,
  field: string,
  bound: RangeBound,
  value: Scalar | undefined,
): PlannedQuery {
  if (value === undefined) return ALL;
  const stored = storedBound(scalar, value);
  if (typeof stored === 'object') return leaf({ range: { [field]: { [bound]: stored.value } } });
  const isUpper = bound === 'lt' || bound === 'lte';
  return stored === (isUpper ? 'below' : 'above') ? NONE : ALL;
}

/** Returns a bound as the field stores it, or says that it is below or above all possible values. */
function storedBound(
  { fieldType, type }: PlacedScalar,
  value: Scalar,
): 'below' | 'above' | { readonly value: StoredValue } {
  if (fieldType === 'long') {
    if (BigInt(value) < INT64.min) return 'below';
    if (BigInt(value) > INT64.max) return 'above';
  } else if (fieldType !== 'keyword' && fieldType !== 'json' && type !== 'decimal' && type !== 'float') {
    if (Number(value) < -Number.MAX_SAFE_INTEGER) return 'below';
    if (Number(value) > Number.MAX_SAFE_INTEGER) return 'above';
  }
  return { value: storedValue(fieldType, value) };
}

function planText(
  place: Place,
  scalar: PlacedScalar,
  field: string,
  query: TextQuery,
): PlannedQuery | undefined {
  const { match, value, fold } = query;
  const { text, fieldType } = scalar;
  const isText = fieldType === 'keyword' || fieldType === 'json';
  if (match === 'equals' && !fold && isText) return planValues(scalar, field, [value]);
  if (value === '' && match !== 'equals') return leaf({ exists: { field } });
  if (text === 'form') return planForm(place, scalar, query);
  const tokens = needleGrams(match, value);
  if (fold || text === 'grams') {
    if (text === 'none') return undefined;
    const direct = fold
      ? leaf(phrase(`${place.prefix}g.${scalar.field}`, tokens))
      : asWritten(place, scalar, value, tokens);
    return tokens.length <= LONGEST_PHRASE ? direct : longText(place, scalar, query, direct);
  }
  // A term contains at least this much of a text, even if it does not contain the whole text.
  const isWithinTerm = match === 'prefix' && isText && value.length * 3 < PREFIX_BYTES;
  return isWithinTerm ? leaf({ prefix: { [field]: { value } } }) : undefined;
}

/** Plans a comparison that respects capitals. A text that folding does not change has only folded grams. */
function asWritten(
  { prefix }: Place,
  { field }: PlacedScalar,
  value: string,
  tokens: readonly string[],
): PlannedQuery {
  const written = `${prefix}w.${field}`;
  const inWritten = leaf(phrase(written, tokens));
  if (foldText(value) !== value) return inWritten;
  const inFolded = allPlanned([leaf(phrase(`${prefix}g.${field}`, tokens))], undefined, [
    leaf({ exists: { field: written } }),
  ]);
  return anyPlanned([inWritten, inFolded]);
}

/** Plans a comparison of a text form. Text forms have no capitals, so folding changes nothing. */
function planForm({ prefix }: Place, scalar: PlacedScalar, { match, value }: TextQuery): PlannedQuery {
  if (value.length > LONGEST_FORM) return NONE;
  return leaf(formDsl(`${prefix}x`, scalar, { match, value }));
}

function formDsl(
  field: string,
  scalar: PlacedScalar,
  { match, value }: Pick<TextQuery, 'match' | 'value'>,
): Dsl {
  switch (match) {
    case 'equals':
      return { term: { [field]: { value: formTerm(scalar, value) } } };
    case 'prefix':
      return { prefix: { [field]: { value: formTerm(scalar, value) } } };
    case 'suffix':
      return { wildcard: { [field]: { value: `${literal(formTerm(scalar, ''))}*${literal(value)}` } } };
    case 'contains':
      return { wildcard: { [field]: { value: `${literal(formTerm(scalar, ''))}*${literal(value)}*` } } };
    default:
      return assertNever(match);
  }
}

function literal(text: string): string {
  return text.replaceAll(/[\\*?]/g, '\\$&');
}
