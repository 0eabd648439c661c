import type { SharedItem } from '../layout/document-layout.ts';
import type { StoredValue } from '../layout/index-document.ts';

/** The part of Elasticsearch's query language that Varve uses, as values. */
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
  | {
      readonly geo_distance: {
        readonly [field: string]: string | { readonly lat: number; readonly lon: number };
      };
    }
  | { readonly nested: NestedDsl }
  | { readonly bool: BoolDsl }
  | { readonly constant_score: { readonly filter: Dsl; readonly boost: number } }
  | { readonly dis_max: { readonly queries: readonly Dsl[] } }
  | { readonly function_score: { readonly query: Dsl; readonly min_score: number } }
  | { readonly combined_fields: CombinedFieldsDsl }
  | { readonly intervals: { readonly [field: string]: IntervalsDsl } };

type CombinedFieldsDsl = {
  readonly query: string;
  readonly fields: readonly string[];
  readonly boost: number;
};

export type IntervalsDsl =
  | { readonly match: { readonly query: string } }
  | { readonly regexp: { readonly pattern: string } }
  | { readonly any_of: { readonly intervals: readonly IntervalsDsl[] } }
  | {
      readonly all_of: {
        readonly ordered: true;
        readonly max_gaps: number;
        readonly intervals: readonly IntervalsDsl[];
      };
    };

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
  /** Conditions like those of `filter`, but they also count for the score. */
  readonly must?: readonly Dsl[];
  readonly filter?: readonly Dsl[];
  readonly should?: readonly Dsl[];
  readonly minimum_should_match?: 1;
  readonly must_not?: readonly Dsl[];
};

export type SortDsl = {
  readonly [field: string]: { readonly order: 'asc' | 'desc'; readonly missing?: '_first' | '_last' };
};

/** Maximum values in one `terms` query. Elasticsearch's default limit is 65,536. */
const MAX_TERMS = 60_000;

/** Matches documents whose `field` has one of `values`, for any number of values. */
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

/** Matches the items of a shared list that have this mark. */
export function markDsl({ list, mark }: SharedItem): Dsl {
  return { term: { [`${list}.at`]: { value: mark } } };
}

/** Returns the nesting depth of a query. */
export function dslDepth(dsl: Dsl): number {
  if ('nested' in dsl) return 1 + dslDepth(dsl.nested.query);
  if ('constant_score' in dsl) return 1 + dslDepth(dsl.constant_score.filter);
  if ('dis_max' in dsl) return 1 + Math.max(0, ...dsl.dis_max.queries.map(dslDepth));
  if (!('bool' in dsl)) return 1;
  const { must = [], filter = [], should = [], must_not = [] } = dsl.bool;
  let deepest = 0;
  for (const clause of [...must, ...filter, ...should, ...must_not])
    deepest = Math.max(deepest, dslDepth(clause));
  return 1 + deepest;
}
