import {
  type BoolQuery,
  type FieldType,
  MATCH_NONE,
  type Scalar,
} from '../../shared/read-index/bool-query.ts';
import { foldText } from '../../shared/read-index/fold-text.ts';
import { anyOf, noneOf } from './combine-queries.ts';

/** Cast operands of a comparison: one operand, or several for lists and pairs. null is SQL's NULL. */
export type Operands = readonly (Scalar | null)[];

/** The column that a comparison compares. */
export type ComparedField = { readonly name: string; readonly neverNull: boolean };

/**
 * An operator: the form of its operand, the accepted columns, and the rows for which the comparison is TRUE and FALSE. For the rest it is
 * NULL (SEMANTICS section 1). `ofNull`: the truth of the comparison for a column that is NULL.
 */
type Operator = {
  /** `value`: cast to the attribute's type. `text`: compared with the text form. `flag`: true or false. */
  readonly operand: 'value' | 'text' | 'list' | 'pair' | 'flag';
  /** Meaning of a list as a single operand: membership, any of the comparisons, or refused. */
  readonly list: 'in' | 'any' | 'refused';
  readonly fieldTypes: readonly FieldType[];
  readonly isTrue: (field: ComparedField, operands: Operands) => BoolQuery;
  readonly isFalse: (field: ComparedField, operands: Operands) => BoolQuery;
  readonly ofNull: (operands: Operands) => boolean | null;
  readonly summary: string;
};

const ORDERED = ['keyword', 'number', 'long', 'boolean', 'time-of-day', 'instant'] as const;
const EVERY = [...ORDERED, 'json'] as const;
const TEXT = ['keyword'] as const;

/** The one operator table: parser, messages, translation and documentation derive from it. */
export const OPERATORS = {
  $eq: equality('Equal'),
  $ne: negated(equality('Not equal')),
  $eqi: textMatch('equals', true, 'Equal, ignoring case'),
  $nei: negated(textMatch('equals', true, 'Not equal, ignoring case')),
  $lt: order('lt', 'gte', 'Less than'),
  $lte: order('lte', 'gt', 'Less than or equal to'),
  $gt: order('gt', 'lte', 'Greater than'),
  $gte: order('gte', 'lt', 'Greater than or equal to'),
  $in: membership('One of a list'),
  $notIn: negated(membership('None of a list')),
  $contains: textMatch('contains', false, 'Contains'),
  $notContains: negated(textMatch('contains', false, 'Does not contain')),
  $containsi: textMatch('contains', true, 'Contains, ignoring case'),
  $notContainsi: negated(textMatch('contains', true, 'Does not contain, ignoring case')),
  $startsWith: textMatch('prefix', false, 'Starts with'),
  $startsWithi: textMatch('prefix', true, 'Starts with, ignoring case'),
  $endsWith: textMatch('suffix', false, 'Ends with'),
  $endsWithi: textMatch('suffix', true, 'Ends with, ignoring case'),
  $null: nullTest('Is null'),
  $notNull: negated(nullTest('Is not null')),
  $between: between('Within two bounds, both included'),
} as const satisfies Record<`$${string}`, Operator>;

export type OperatorName = keyof typeof OPERATORS;

/** Operators that combine conditions instead of comparing. */
export const GROUP_OPERATORS = ['$and', '$or', '$not'] as const;

/** Every key with `$` that a filter may contain. */
export const OPERATOR_NAMES: readonly string[] = [...Object.keys(OPERATORS), ...GROUP_OPERATORS];

/** Operators that Strapi on SQLite compares without case, and their counterparts. */
const IGNORING_CASE: { readonly [name: string]: OperatorName } = {
  $contains: '$containsi',
  $notContains: '$notContainsi',
  $startsWith: '$startsWithi',
  $endsWith: '$endsWithi',
};

/** Returns the operator that compares like `name` and ignores case. */
export function ignoringCase(name: OperatorName): OperatorName {
  return IGNORING_CASE[name] ?? name;
}

/** Returns whether a key compares values. Those that combine conditions (GROUP_OPERATORS) do not. */
export function isOperator(name: string): name is OperatorName {
  return Object.hasOwn(OPERATORS, name);
}

/** Returns the row of OPERATORS with the type that all rows share. */
export function operatorOf(name: OperatorName): Operator {
  return OPERATORS[name];
}

/** Returns the operators that columns of this type accept, for messages. */
export function operatorsFor(type: FieldType): readonly string[] {
  return [
    ...Object.entries<Operator>(OPERATORS).flatMap(([name, { fieldTypes }]) =>
      fieldTypes.includes(type) ? [name] : [],
    ),
    '$not',
  ];
}

/** Swaps TRUE and FALSE; NULL stays NULL. */
function negated(operator: Operator): Operator {
  return {
    ...operator,
    list: operator.list === 'in' ? 'any' : operator.list,
    isTrue: operator.isFalse,
    isFalse: operator.isTrue,
    ofNull: (operands) => not(operator.ofNull(operands)),
  };
}

function not(truth: boolean | null): boolean | null {
  return truth === null ? null : !truth;
}

function equality(summary: string): Operator {
  return {
    operand: 'value',
    list: 'in',
    fieldTypes: EVERY,
    isTrue: (field, [value = null]) => (value === null ? isNull(field) : term(field, value)),
    isFalse: (field, [value = null]) => (value === null ? exists(field) : differs(field, term(field, value))),
    ofNull: ([value = null]) => (value === null ? true : null),
    summary,
  };
}

/** Creates a membership operator. If the list contains NULL, the result is NULL unless the value is in the list. */
function membership(summary: string): Operator {
  return {
    operand: 'list',
    list: 'in',
    fieldTypes: EVERY,
    isTrue: (field, list) => terms(field, withoutNull(list)),
    isFalse: (field, list) =>
      list.includes(null) ? MATCH_NONE : differs(field, terms(field, withoutNull(list))),
    ofNull: () => null,
    summary,
  };
}

function order(
  is: 'lt' | 'lte' | 'gt' | 'gte',
  isNot: 'lt' | 'lte' | 'gt' | 'gte',
  summary: string,
): Operator {
  return {
    operand: 'value',
    list: 'any',
    fieldTypes: ORDERED,
    isTrue: (field, [value = null]) => range(field, is, value),
    isFalse: (field, [value = null]) => range(field, isNot, value),
    ofNull: () => null,
    summary,
  };
}

function between(summary: string): Operator {
  return {
    operand: 'pair',
    list: 'refused',
    fieldTypes: ORDERED,
    isTrue: (field, [from = null, to = null]) =>
      from === null || to === null ? MATCH_NONE : { kind: 'range', field: field.name, gte: from, lte: to },
    isFalse: (field, [from = null, to = null]) => anyOf([range(field, 'lt', from), range(field, 'gt', to)]),
    ofNull: () => null,
    summary,
  };
}

function nullTest(summary: string): Operator {
  return {
    operand: 'flag',
    list: 'refused',
    fieldTypes: EVERY,
    isTrue: (field, [flag]) => (flag === true ? isNull(field) : exists(field)),
    isFalse: (field, [flag]) => (flag === true ? exists(field) : isNull(field)),
    ofNull: ([flag]) => flag === true,
    summary,
  };
}

/** LIKE treats a missing operand as the text "null"; equality treats it as NULL (SEMANTICS section 2). */
function textMatch(
  match: 'equals' | 'contains' | 'prefix' | 'suffix',
  fold: boolean,
  summary: string,
): Operator {
  const query = (field: ComparedField, operand: Scalar | null): BoolQuery => {
    const text = String(operand);
    return { kind: 'text', match, field: field.name, value: fold ? foldText(text) : text, fold };
  };
  const nullIsNull = match === 'equals';
  return {
    operand: 'text',
    list: 'any',
    fieldTypes: fold ? EVERY : TEXT,
    isTrue: (field, [text = null]) => (nullIsNull && text === null ? isNull(field) : query(field, text)),
    isFalse: (field, [text = null]) =>
      nullIsNull && text === null ? exists(field) : differs(field, query(field, text)),
    ofNull: ([text = null]) => (nullIsNull && text === null ? true : null),
    summary,
  };
}

function term(field: ComparedField, value: Scalar): BoolQuery {
  return { kind: 'term', field: field.name, value };
}

function terms(field: ComparedField, values: readonly Scalar[]): BoolQuery {
  if (values.length === 0) return MATCH_NONE;
  return values.length === 1
    ? term(field, values[0] as Scalar)
    : { kind: 'terms', field: field.name, values };
}

function range(field: ComparedField, bound: 'lt' | 'lte' | 'gt' | 'gte', value: Scalar | null): BoolQuery {
  return value === null ? MATCH_NONE : { kind: 'range', field: field.name, [bound]: value };
}

function exists(field: ComparedField): BoolQuery {
  return field.neverNull ? { kind: 'match_all' } : { kind: 'exists', field: field.name };
}

function isNull(field: ComparedField): BoolQuery {
  return noneOf(exists(field));
}

/** Matches rows whose field has a value for which `query` is not true. A row without a value never matches a negation. */
function differs(field: ComparedField, query: BoolQuery): BoolQuery {
  if (query.kind === 'match_none') return exists(field);
  return field.neverNull
    ? noneOf(query)
    : { kind: 'bool', filter: [{ kind: 'exists', field: field.name }], must_not: [query] };
}

function withoutNull(list: Operands): readonly Scalar[] {
  return list.filter((value) => value !== null);
}
