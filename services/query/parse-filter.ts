import { isOperator, type OperatorName } from './operators.ts';
import { isQueryList, isQueryObject, type QueryObject, type QueryValue } from './query-string.ts';

/**
 * The `filters` parameter as a tree, without the schema. `at` is the key in the query string, for messages. The part after an attribute's
 * name is its `body`: comparisons of the attribute itself, and mentions of attributes behind it.
 */
export type ParsedFilter =
  | { readonly kind: 'and' | 'or'; readonly members: readonly ParsedFilter[]; readonly at: string }
  | { readonly kind: 'not'; readonly member: ParsedFilter; readonly at: string }
  | {
      readonly kind: 'attribute';
      readonly name: string;
      readonly body: readonly ParsedFilter[];
      readonly at: string;
    }
  | {
      readonly kind: 'comparison';
      readonly operator: OperatorName;
      readonly operand: QueryValue;
      readonly at: string;
    }
  | {
      readonly kind: 'malformed';
      readonly message: string;
      readonly found: QueryValue;
      readonly accepted: string;
      readonly at: string;
    };

/** Entries of `filters[field][0], [1]…`; Strapi treats a longer list as an object with the keys 0, 1, … */
const MAX_IMPLICIT_LIST = 100;
const MIXED_LIST = 'Invalid list: it may contain values only; write a value next to operators as [$eq]';

/**
 * Parses the object of `filters` (or of a `populate` option) into a tree. undefined and null mean no filter. A malformed node replaces a
 * part that cannot be parsed, so that the resolver reports problems in the order of the request.
 */
export function parseFilter(value: QueryValue | undefined, at: string): ParsedFilter | null {
  if (value === undefined || value === null) return null;
  if (!isQueryObject(value)) {
    return malformed('The filters parameter must be an object or an array', value, 'an object', at);
  }
  return { kind: 'and', members: parseGroup(value, at), at };
}

/** Parses an object whose members name attributes: the root, a member of `$and`/`$or`, or the inside of `$not`. */
function parseGroup(group: QueryObject, at: string): readonly ParsedFilter[] {
  return Object.entries(group).map(([key, value = null]) => {
    const place = `${at}[${key}]`;
    if (key === '$and' || key === '$or') return parseMembers(key, value, place);
    if (key === '$not') return parseNot(value, place);
    if (isOperator(key)) {
      return malformed(`Invalid ${key}: it compares an attribute`, value, `attribute[${key}]`, place);
    }
    return { kind: 'attribute', name: key, body: parseBody(value, place), at: place };
  });
}

/** Parses `$not` of a group, or of a list of groups. A list means that `$not` of at least one group is true. */
function parseNot(value: QueryValue, at: string): ParsedFilter {
  if (isQueryObject(value))
    return { kind: 'not', member: { kind: 'and', members: parseGroup(value, at), at }, at };
  if (isQueryList(value) && value.length > 0 && value.every(isQueryObject)) {
    const members = value.map((group, index): ParsedFilter => parseNot(group, `${at}[${index}]`));
    return { kind: 'or', members, at };
  }
  return malformed('Invalid $not: expected an object', value, 'an object with conditions', at);
}

function parseMembers(key: '$and' | '$or', value: QueryValue, at: string): ParsedFilter {
  if (!isQueryList(value))
    return malformed(`Invalid ${key}: expected a list`, value, `${key}[0], ${key}[1], …`, at);
  const members = value.map((member, index): ParsedFilter => {
    const place = `${at}[${index}]`;
    // A list inside the list is true if all its members are.
    if (isQueryList(member)) return parseMembers('$and', member, place);
    return isQueryObject(member)
      ? { kind: 'and', members: parseGroup(member, place), at: place }
      : malformed(`Invalid ${key}: expected an object`, member, 'an object with conditions', place);
  });
  return { kind: key === '$and' ? 'and' : 'or', members, at };
}

/** Parses the part after an attribute's name: a value (`$eq`), a list (`$in`), operators, or names of attributes behind it. */
function parseBody(value: QueryValue, at: string): readonly ParsedFilter[] {
  if (isQueryList(value)) {
    // No attribute has the name `0`, so this is refused as Strapi refuses it.
    if (value.length > MAX_IMPLICIT_LIST) return [{ kind: 'attribute', name: '0', body: [], at: `${at}[0]` }];
    // `stars=3&stars[$gt]=1` and `hours[0][day]=mon` arrive as a list with an object in it.
    if (value.some(isQueryObject)) return [malformed(MIXED_LIST, value, 'values, or operators', at)];
    return [{ kind: 'comparison', operator: '$in', operand: value, at }];
  }
  if (!isQueryObject(value)) return [{ kind: 'comparison', operator: '$eq', operand: value, at }];
  return Object.entries(value).map(([key, operand = null]) => parseBodyMember(key, operand, `${at}[${key}]`));
}

function parseBodyMember(key: string, operand: QueryValue, at: string): ParsedFilter {
  if (isOperator(key)) return { kind: 'comparison', operator: key, operand, at };
  if (key === '$and' || key === '$or') return parseMembers(key, operand, at);
  if (key !== '$not') return { kind: 'attribute', name: key, body: parseBody(operand, at), at };
  // `[$not][]=3&[$not][]=4` is an OR of the negations, like every list given to an operator.
  if (isQueryList(operand)) {
    const members = operand.map((item): ParsedFilter => ({ kind: 'not', member: equals(item, at), at }));
    return { kind: 'or', members, at };
  }
  if (!isQueryObject(operand)) return { kind: 'not', member: equals(operand, at), at };
  return { kind: 'not', member: { kind: 'and', members: parseBody(operand, at), at }, at };
}

function equals(operand: QueryValue, at: string): ParsedFilter {
  return { kind: 'comparison', operator: '$eq', operand, at };
}

function malformed(message: string, found: QueryValue, accepted: string, at: string): ParsedFilter {
  return { kind: 'malformed', message, found, accepted, at };
}
