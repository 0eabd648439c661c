import { type BoolQuery, MATCH_ALL, MATCH_NONE } from '../../shared/read-index/bool-query.ts';

/** Matches rows that match every query; all rows if there is none. */
export function allOf(queries: readonly BoolQuery[]): BoolQuery {
  const filter: BoolQuery[] = [];
  for (const query of queries) {
    if (query.kind === 'match_none') return MATCH_NONE;
    if (query.kind === 'match_all') continue;
    if (isConjunction(query)) filter.push(...(query.filter ?? []));
    else filter.push(query);
  }
  if (filter.length === 0) return MATCH_ALL;
  return filter.length === 1 ? (filter[0] as BoolQuery) : { kind: 'bool', filter };
}

/** Matches rows that match at least one query; none if there is none. */
export function anyOf(queries: readonly BoolQuery[]): BoolQuery {
  const should: BoolQuery[] = [];
  for (const query of queries) {
    if (query.kind === 'match_all') return MATCH_ALL;
    if (query.kind === 'match_none') continue;
    if (isDisjunction(query)) should.push(...(query.should ?? []));
    else should.push(query);
  }
  if (should.length === 0) return MATCH_NONE;
  return should.length === 1 ? (should[0] as BoolQuery) : { kind: 'bool', should };
}

/** Matches rows that do not match the query. */
export function noneOf(query: BoolQuery): BoolQuery {
  if (query.kind === 'match_all') return MATCH_NONE;
  if (query.kind === 'match_none') return MATCH_ALL;
  return { kind: 'bool', must_not: [query] };
}

function isConjunction(query: BoolQuery): query is BoolQuery & { kind: 'bool' } {
  return query.kind === 'bool' && query.should === undefined && query.must_not === undefined;
}

function isDisjunction(query: BoolQuery): query is BoolQuery & { kind: 'bool' } {
  return query.kind === 'bool' && query.filter === undefined && query.must_not === undefined;
}
