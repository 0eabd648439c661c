import type { Operands, OperatorName } from '../../services/query/operators.ts';
import type { ResolvedFilter } from '../../services/query/resolved-filter.ts';
import type { Scalar } from '../../shared/read-index/bool-query.ts';
import { textForm } from '../../shared/read-index/column.ts';
import { foldText } from '../../shared/read-index/fold-text.ts';
import type { ScalarType } from '../../shared/schema/content-type.ts';
import { isInAreaNaively } from './naive-geo.ts';

/**
 * A row as plain data: its columns, and the rows behind each relation and component in one world (zones: `attribute
 * component`).
 */
export type PlainRow = {
  readonly fields: { readonly [name: string]: Scalar | null };
  readonly links: { readonly [attribute: string]: readonly PlainRow[] };
};

type Mention = ResolvedFilter & { kind: 'some' };
type Variable = { readonly mention: Mention; readonly parent: Mention | null };
type Assignment = ReadonlyMap<Mention | null, PlainRow>;
/** A truth value of SQL. null is NULL. */
type Truth = boolean | null;

const NULL_ROW: PlainRow = { fields: {}, links: {} };

/**
 * Returns true if a row matches, exactly by SEMANTICS section 1. Every mention of a relation or component is a row
 * variable. All variables are existentially quantified at the front of the formula. Each ranges over the rows linked to its
 * parent variable, or over one all-NULL row if there are none. The row matches if the formula is TRUE for some
 * assignment.
 */
export function matchesNaively(filter: ResolvedFilter, row: PlainRow): boolean {
  return someAssignment(variablesOf(filter, null), new Map([[null, row]]), (assignment) =>
    isTrue(evaluate(filter, null, assignment)),
  );
}

/** Returns the number of row variables of a filter. The cost of the enumeration is exponential in it. */
export function countMentions(filter: ResolvedFilter): number {
  return variablesOf(filter, null).length;
}

function variablesOf(filter: ResolvedFilter, parent: Mention | null): readonly Variable[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.members.flatMap((member) => variablesOf(member, parent));
    case 'not':
      return variablesOf(filter.member, parent);
    case 'some':
      return [{ mention: filter, parent }, ...variablesOf(filter.body, filter)];
    case 'comparison':
    case 'geo':
      return [];
  }
}

function someAssignment(
  variables: readonly Variable[],
  assignment: Assignment,
  accept: (assignment: Assignment) => boolean,
): boolean {
  const [first, ...rest] = variables;
  if (first === undefined) return accept(assignment);
  const { mention, parent } = first;
  const name = mention.zoneComponent ? `${mention.attribute} ${mention.zoneComponent}` : mention.attribute;
  const linked = assignment.get(parent)?.links[name] ?? [];
  const range = linked.length === 0 ? [NULL_ROW] : linked;
  return range.some((row) => someAssignment(rest, new Map([...assignment, [mention, row]]), accept));
}

/** Evaluates the formula under an assignment, in three-valued logic. `here` is the mention to whose row the columns belong. */
function evaluate(filter: ResolvedFilter, here: Mention | null, assignment: Assignment): Truth {
  switch (filter.kind) {
    case 'and': {
      const truths = filter.members.map((member) => evaluate(member, here, assignment));
      if (truths.includes(false)) return false;
      return truths.includes(null) ? null : true;
    }
    case 'or': {
      const truths = filter.members.map((member) => evaluate(member, here, assignment));
      if (truths.includes(true)) return true;
      return truths.includes(null) ? null : false;
    }
    case 'not':
      return negate(evaluate(filter.member, here, assignment));
    case 'some':
      return evaluate(filter.body, filter, assignment);
    case 'comparison': {
      const value = assignment.get(here)?.fields[filter.field.name] ?? null;
      return compare(filter.operator, value, filter.operands, filter.field.type);
    }
    case 'geo': {
      const fields = assignment.get(here)?.fields ?? {};
      return isInAreaNaively(filter.area, fields[filter.columns.lat], fields[filter.columns.lng]);
    }
  }
}

/** Returns the truth value of an SQL comparison. */
function compare(operator: OperatorName, value: Scalar | null, operands: Operands, type: ScalarType): Truth {
  const [first = null, second = null] = operands;
  switch (operator) {
    case '$eq':
      return first === null ? value === null : equals(value, first);
    case '$ne':
      return negate(compare('$eq', value, operands, type));
    case '$in':
      return anyTruth(operands.map((operand) => equals(value, operand)));
    case '$notIn':
      return negate(compare('$in', value, operands, type));
    case '$lt':
      return ordered(value, first, (order) => order < 0);
    case '$lte':
      return ordered(value, first, (order) => order <= 0);
    case '$gt':
      return ordered(value, first, (order) => order > 0);
    case '$gte':
      return ordered(value, first, (order) => order >= 0);
    case '$between':
      return allTruth([
        ordered(value, first, (order) => order >= 0),
        ordered(value, second, (order) => order <= 0),
      ]);
    case '$null':
      return (value === null) === first;
    case '$notNull':
      return (value !== null) === first;
    case '$eqi':
      return first === null ? value === null : like(value, first, type, true, (text, part) => text === part);
    case '$nei':
      return negate(compare('$eqi', value, operands, type));
    case '$contains':
      return like(value, first, type, false, (text, part) => text.includes(part));
    case '$containsi':
      return like(value, first, type, true, (text, part) => text.includes(part));
    case '$notContains':
      return negate(compare('$contains', value, operands, type));
    case '$notContainsi':
      return negate(compare('$containsi', value, operands, type));
    case '$startsWith':
      return like(value, first, type, false, (text, part) => text.startsWith(part));
    case '$startsWithi':
      return like(value, first, type, true, (text, part) => text.startsWith(part));
    case '$endsWith':
      return like(value, first, type, false, (text, part) => text.endsWith(part));
    case '$endsWithi':
      return like(value, first, type, true, (text, part) => text.endsWith(part));
  }
}

function equals(value: Scalar | null, operand: Scalar | null): Truth {
  return value === null || operand === null ? null : value === operand;
}

function ordered(value: Scalar | null, operand: Scalar | null, accept: (order: number) => boolean): Truth {
  if (value === null || operand === null) return null;
  if (typeof value === 'string')
    return accept(Buffer.compare(Buffer.from(value), Buffer.from(String(operand))));
  return accept(value < operand ? -1 : value > operand ? 1 : 0);
}

function like(
  value: Scalar | null,
  operand: Scalar | null,
  type: ScalarType,
  fold: boolean,
  accept: (text: string, part: string) => boolean,
): Truth {
  if (value === null) return null;
  const [text, part] = [textForm(type, value), String(operand)];
  return fold ? accept(foldText(text), foldText(part)) : accept(text, part);
}

function negate(truth: Truth): Truth {
  return truth === null ? null : !truth;
}

function anyTruth(truths: readonly Truth[]): Truth {
  if (truths.includes(true)) return true;
  return truths.includes(null) ? null : false;
}

function allTruth(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false;
  return truths.includes(null) ? null : true;
}

function isTrue(truth: Truth): boolean {
  return truth === true;
}
