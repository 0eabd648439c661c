import type { StoredValue } from '../layout/index-document.ts';

/** The part of Elasticsearch's query language that Varve speaks, as values. */
export type Dsl =
  | { readonly match_all: Record<string, never> }
  | { readonly match_none: Record<string, never> }
  | { readonly term: { readonly [field: string]: { readonly value: StoredValue } } }
  | { readonly terms: { readonly [field: string]: readonly StoredValue[] } }
  | { readonly range: { readonly [field: string]: { readonly [bound in RangeBound]?: StoredValue } } }
  | { readonly exists: { readonly field: string } }
  | { readonly match_phrase: { readonly [field: string]: { readonly query: string } } }
  | { readonly prefix: { readonly [field: string]: { readonly value: string } } }
  | { readonly wildcard: { readonly [field: string]: { readonly value: string } } }
  | { readonly nested: NestedDsl }
  | { readonly bool: BoolDsl };

export type RangeBound = 'gt' | 'gte' | 'lt' | 'lte';

type NestedDsl = {
  readonly path: string;
  readonly query: Dsl;
  readonly score_mode: 'none';
  readonly inner_hits?: {
    readonly size: number;
    readonly _source: false;
    readonly docvalue_fields: readonly string[];
  };
};

type BoolDsl = {
  readonly filter?: readonly Dsl[];
  readonly should?: readonly Dsl[];
  readonly minimum_should_match?: 1;
  readonly must_not?: readonly Dsl[];
};

export type SortDsl = {
  readonly [field: string]: { readonly order: 'asc' | 'desc'; readonly missing?: '_first' | '_last' };
};

/** Values in one `terms` query: Elasticsearch's default limit is 65,536. */
const MAX_TERMS = 60_000;

/** `field` has one of `values`, however many there are. */
export function termsDsl(field: string, values: readonly StoredValue[]): Dsl {
  const [first] = values;
  if (first === undefined) return { match_none: {} };
  if (values.length === 1) return { term: { [field]: { value: first } } };
  if (values.length <= MAX_TERMS) return { terms: { [field]: values } };
  const chunks: Dsl[] = [];
  for (let at = 0; at < values.length; at += MAX_TERMS) {
    chunks.push({ terms: { [field]: values.slice(at, at + MAX_TERMS) } });
  }
  return { bool: { should: chunks, minimum_should_match: 1 } };
}

/** Nesting depth of a query. */
export function dslDepth(dsl: Dsl): number {
  if ('nested' in dsl) return 1 + dslDepth(dsl.nested.query);
  if (!('bool' in dsl)) return 1;
  const { filter = [], should = [], must_not = [] } = dsl.bool;
  let deepest = 0;
  for (const clause of [...filter, ...should, ...must_not]) deepest = Math.max(deepest, dslDepth(clause));
  return 1 + deepest;
}
