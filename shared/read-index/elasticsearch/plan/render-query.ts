import { assertNever } from '../../../assert-never.ts';
import { RequestError } from '../../../request-error.ts';
import { type Dsl, dslDepth, termsDsl } from './dsl.ts';
import type { PlannedQuery, SemiJoin } from './planned-query.ts';

/** Elasticsearch's `indices.query.bool.max_nested_depth`, which no request can change. */
const MAX_DEPTH = 30;

/**
 * Returns the DSL of a plan. `keysOf` returns the keys that a semi-join found. Throws a 400 if the query nests too deeply for
 * Elasticsearch.
 */
export function renderQuery(query: PlannedQuery, keysOf: (join: SemiJoin) => readonly number[]): Dsl {
  return checkDepth(render(query, (join) => termsDsl(join.into, keysOf(join))));
}

/** Returns the query unchanged. Throws a 400 if it nests too deeply for Elasticsearch. */
export function checkDepth(dsl: Dsl): Dsl {
  // The search wraps the query, which adds two levels.
  const depth = dslDepth(dsl) + 2;
  if (depth > MAX_DEPTH) refuseDepth(depth);
  return dsl;
}

function refuseDepth(depth: number): never {
  throw new RequestError('query-too-large', `Invalid filters: nested ${depth} levels deep`, {
    param: 'filters',
    source: 'query',
    found: `${depth} levels`,
    accepted: `at most ${MAX_DEPTH} levels of groups and relations, which is Elasticsearch's limit`,
  });
}

/** Returns the DSL of a plan of any depth, for documents with all copies (see `chooseCopies`). `ofJoin` returns the DSL that replaces a semi-join. */
export function render(query: PlannedQuery, ofJoin: (join: SemiJoin) => Dsl): Dsl {
  switch (query.kind) {
    case 'all':
      return { match_all: {} };
    case 'none':
      return { match_none: {} };
    case 'leaf':
      return query.dsl;
    case 'nested':
      return { nested: { path: query.path, query: render(query.query, ofJoin), score_mode: 'none' } };
    case 'semi_join':
      return ofJoin(query.join);
    case 'long_text':
      return render(query.direct, ofJoin);
    case 'copies':
      return render(query.copies, ofJoin);
    case 'bool': {
      const all = (parts: readonly PlannedQuery[]) => parts.map((part) => render(part, ofJoin));
      return {
        bool: {
          ...(query.filter.length === 0 ? {} : { filter: all(query.filter) }),
          ...(query.should.length === 0 ? {} : { should: all(query.should), minimum_should_match: 1 }),
          ...(query.mustNot.length === 0 ? {} : { must_not: all(query.mustNot) }),
        },
      };
    }
    default:
      return assertNever(query);
  }
}
