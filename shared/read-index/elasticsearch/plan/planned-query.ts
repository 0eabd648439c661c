import type { Uid } from '../../../schema/content-type.ts';
import type { TextQuery } from '../../compare-text.ts';
import type { ComponentStep } from '../../read-index.ts';
import type { PlacedScalar } from '../layout/document-layout.ts';
import type { Dsl } from './dsl.ts';

/** A query for one index: its DSL, without the keys that semi-joins still must find. */
export type PlannedQuery =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  /** Matches only nodes that have a value. */
  | { readonly kind: 'leaf'; readonly dsl: Dsl }
  | { readonly kind: 'nested'; readonly path: string; readonly query: PlannedQuery }
  | {
      readonly kind: 'bool';
      readonly filter: readonly PlannedQuery[];
      /** Matches everything if empty. */
      readonly should: readonly PlannedQuery[];
      readonly mustNot: readonly PlannedQuery[];
    }
  | { readonly kind: 'semi_join'; readonly join: SemiJoin }
  /** A comparison with a long text: as one condition, or as the keys that `join` finds (see `fitClauses`). */
  | { readonly kind: 'long_text'; readonly direct: PlannedQuery; readonly join: SemiJoin }
  /** A query of the copies in a list, in documents of `type`. `others` matches the documents that have too many links to copy. */
  | {
      readonly kind: 'copies';
      readonly type: Uid;
      readonly copies: PlannedQuery;
      readonly others: PlannedQuery;
    };

/**
 * A query for keys, whose result becomes a condition. It reads the keys in `select` of the documents of `type` that match `query`. The
 * outer query searches for them in the field `into`.
 */
export type SemiJoin = {
  readonly type: Uid;
  readonly query: PlannedQuery;
  /** Field with the keys: `key`, or a link field. */
  readonly select: string;
  readonly into: string;
  /** The process compares the texts of the found documents itself. `select` and `into` then name the rows with the texts. */
  readonly texts?: TextCheck;
};

/** A comparison of a column of a content type's rows or components, for the process to evaluate. */
export type TextCheck = {
  readonly path: readonly ComponentStep[];
  readonly scalar: PlacedScalar;
  readonly comparison: TextQuery;
};

export const ALL: PlannedQuery = Object.freeze({ kind: 'all' });
export const NONE: PlannedQuery = Object.freeze({ kind: 'none' });

/** Returns a query without semi-joins. */
export function leaf(dsl: Dsl): PlannedQuery {
  return { kind: 'leaf', dsl };
}

/** Combines queries: all of `filter`, one of `should` if given, none of `mustNot`. The result is as flat as possible. */
export function allPlanned(
  filter: readonly PlannedQuery[],
  should?: readonly PlannedQuery[],
  mustNot: readonly PlannedQuery[] = [],
): PlannedQuery {
  const parts = { filter: [] as PlannedQuery[], mustNot: [] as PlannedQuery[] };
  const required = should === undefined ? filter : [...filter, anyPlanned(should)];
  for (const query of required) addRequired(parts, query);
  for (const query of mustNot) {
    if (query.kind === 'all') return NONE;
    if (query.kind !== 'none') parts.mustNot.push(query);
  }
  if (parts.filter.some(({ kind }) => kind === 'none')) return NONE;
  const merged = mergeRanges(parts.filter);
  const [only] = merged;
  if (parts.mustNot.length === 0) {
    if (only === undefined) return ALL;
    if (merged.length === 1) return only;
  }
  return { kind: 'bool', filter: merged, mustNot: parts.mustNot, should: [] };
}

type RangeOfField = Extract<Dsl, { readonly range: unknown }>['range'];

/**
 * Merges the bounds of one column into one range, so that Elasticsearch walks its values once, not once per bound. This is possible because
 * a column has at most one value.
 */
function mergeRanges(filter: readonly PlannedQuery[]): readonly PlannedQuery[] {
  const merged: PlannedQuery[] = [];
  const at = new Map<string, number>();
  for (const query of filter) {
    const range = query.kind === 'leaf' && 'range' in query.dsl ? query.dsl.range : undefined;
    const field = range && Object.keys(range)[0];
    const place = field === undefined ? undefined : at.get(field);
    const other = place === undefined ? undefined : merged[place];
    const both =
      range && other?.kind === 'leaf' && 'range' in other.dsl
        ? mergedRange(other.dsl.range, range)
        : undefined;
    if (both !== undefined && place !== undefined) merged[place] = leaf({ range: both });
    else {
      if (field !== undefined) at.set(field, merged.length);
      merged.push(query);
    }
  }
  return merged;
}

/** Merges two ranges. Returns undefined if both bound the same side. */
function mergedRange(one: RangeOfField, two: RangeOfField): RangeOfField | undefined {
  const [field = ''] = Object.keys(one);
  const [a = {}, b = {}] = [one[field], two[field]];
  const isLower = (bounds: object) => 'gt' in bounds || 'gte' in bounds;
  const isUpper = (bounds: object) => 'lt' in bounds || 'lte' in bounds;
  if ((isLower(a) && isLower(b)) || (isUpper(a) && isUpper(b))) return undefined;
  return { [field]: { ...a, ...b } };
}

function addRequired(parts: { filter: PlannedQuery[]; mustNot: PlannedQuery[] }, query: PlannedQuery): void {
  if (query.kind === 'all') return;
  if (query.kind === 'bool' && query.should.length === 0) {
    parts.filter.push(...query.filter);
    parts.mustNot.push(...query.mustNot);
  } else parts.filter.push(query);
}

/** Combines queries so that one of them must match. The result is as flat as possible. */
export function anyPlanned(options: readonly PlannedQuery[]): PlannedQuery {
  const should: PlannedQuery[] = [];
  for (const option of options) {
    if (option.kind === 'all') return ALL;
    const isFlat = option.kind === 'bool' && option.filter.length + option.mustNot.length === 0;
    if (isFlat) should.push(...option.should);
    else if (option.kind !== 'none') should.push(option);
  }
  const [only] = should;
  if (only === undefined) return NONE;
  return should.length === 1 ? only : { kind: 'bool', filter: [], should, mustNot: [] };
}

/** Returns whether the query is true only for existing nodes. */
export function impliesPresence(query: PlannedQuery): boolean {
  switch (query.kind) {
    case 'all':
      return false;
    case 'bool':
      if (query.filter.some(impliesPresence)) return true;
      return query.should.length > 0 && query.should.every(impliesPresence);
    default:
      return true;
  }
}

/** Returns all semi-joins, outer ones before the ones inside them. */
export function semiJoinsOf(query: PlannedQuery): readonly SemiJoin[] {
  switch (query.kind) {
    case 'nested':
      return semiJoinsOf(query.query);
    case 'bool':
      return [...query.filter, ...query.should, ...query.mustNot].flatMap(semiJoinsOf);
    case 'semi_join':
      return [query.join];
    default:
      return [];
  }
}

/**
 * Replaces queries of copies. `isUncopied` returns whether documents of a type lack copies. If not, only the copies are searched, without
 * the semi-joins for other documents.
 */
export function chooseCopies(query: PlannedQuery, isUncopied: (type: Uid) => boolean): PlannedQuery {
  const choose = (part: PlannedQuery) => chooseCopies(part, isUncopied);
  switch (query.kind) {
    case 'copies': {
      const copies = choose(query.copies);
      return isUncopied(query.type) ? anyPlanned([copies, choose(query.others)]) : copies;
    }
    case 'nested':
      return { ...query, query: choose(query.query) };
    case 'bool':
      return {
        kind: 'bool',
        filter: query.filter.map(choose),
        should: query.should.map(choose),
        mustNot: query.mustNot.map(choose),
      };
    default:
      return query;
  }
}
