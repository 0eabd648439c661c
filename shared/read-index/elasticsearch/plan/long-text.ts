import type { TextQuery } from '../../compare-text.ts';
import { foldText } from '../../fold-text.ts';
import { needleGrams } from '../documents/text-grams.ts';
import { keyFieldOf, type Place, type PlacedScalar } from '../layout/document-layout.ts';
import type { Dsl } from './dsl.ts';
import { leaf, type PlannedQuery } from './planned-query.ts';

/**
 * Clauses of a query. A node accepts 1,024 at least, and more if it has much memory and few cores. Each piece of a text is a clause. The
 * search adds some.
 */
const MOST_CLAUSES = 1_000;
/** Pieces of a text that are always one phrase. */
export const LONGEST_PHRASE = 64;
/** Phrases of a long text that find the documents whose texts the process compares, and the pieces of each. */
const [PHRASES, PIECES] = [4, 8];

/** Returns the query for texts with these pieces one after the other. */
export function phrase(field: string, tokens: readonly string[]): Dsl {
  const [only = ''] = tokens;
  return tokens.length === 1
    ? { term: { [field]: { value: only } } }
    : { match_phrase: { [field]: { query: tokens.join(' ') } } };
}

/** Plans a comparison with a long text; undefined for a copy. `direct` compares all pieces. */
export function longText(
  place: Place,
  scalar: PlacedScalar,
  comparison: TextQuery,
  direct: PlannedQuery,
): PlannedQuery | undefined {
  if (place.kind === 'embedded') return undefined;
  const { match, value } = comparison;
  const pieces = needleGrams(match, foldText(value));
  const step = (pieces.length - PIECES) / (PHRASES - 1);
  const filter = Array.from({ length: PHRASES }, (_, i) => {
    const from = Math.round(i * step);
    return phrase(`${place.prefix}g.${scalar.field}`, pieces.slice(from, from + PIECES));
  });
  const { type, path } = place.rowSet;
  const into = keyFieldOf(place);
  const texts = { path, scalar, comparison };
  const join = { type, query: leaf({ bool: { filter } }), select: into, into, texts };
  return { kind: 'long_text', direct, join };
}

/**
 * Returns the plan with few enough clauses, if that is possible. The longest texts are searched for by a few pieces, and then compared by
 * the process.
 */
export function fitClauses(query: PlannedQuery): PlannedQuery {
  const longest = longTextsOf(query)
    .map((text) => ({ text, clauses: clausesOf(text.direct) }))
    .sort((a, b) => b.clauses - a.clauses);
  let left = longest.length === 0 ? 0 : clausesOf(query) - MOST_CLAUSES;
  const joined = new Set<PlannedQuery>();
  for (const { text, clauses } of longest) {
    if (left <= 0) break;
    left -= clauses;
    joined.add(text);
  }
  return joined.size === 0 ? query : withJoins(query, joined);
}

function withJoins(query: PlannedQuery, joined: ReadonlySet<PlannedQuery>): PlannedQuery {
  switch (query.kind) {
    case 'long_text':
      return joined.has(query) ? { kind: 'semi_join', join: query.join } : query;
    case 'nested':
      return { ...query, query: withJoins(query.query, joined) };
    case 'bool': {
      const all = (parts: readonly PlannedQuery[]) => parts.map((part) => withJoins(part, joined));
      return {
        kind: 'bool',
        filter: all(query.filter),
        should: all(query.should),
        mustNot: all(query.mustNot),
      };
    }
    default:
      return query;
  }
}

type LongText = Extract<PlannedQuery, { kind: 'long_text' }>;

function longTextsOf(query: PlannedQuery): readonly LongText[] {
  switch (query.kind) {
    case 'long_text':
      return [query];
    case 'nested':
      return longTextsOf(query.query);
    case 'bool':
      return [...query.filter, ...query.should, ...query.mustNot].flatMap(longTextsOf);
    default:
      return [];
  }
}

function clausesOf(query: PlannedQuery): number {
  switch (query.kind) {
    case 'leaf':
      return clausesOfDsl(query.dsl);
    case 'long_text':
      return clausesOf(query.direct);
    case 'nested':
      return 1 + clausesOf(query.query);
    case 'bool': {
      const parts = [...query.filter, ...query.should, ...query.mustNot];
      return parts.reduce((sum, part) => sum + clausesOf(part), 0);
    }
    default:
      return 1;
  }
}

function clausesOfDsl(dsl: Dsl): number {
  if (!('match_phrase' in dsl)) return 1;
  return Object.values(dsl.match_phrase).reduce((sum, { query }) => sum + query.split(' ').length, 0);
}
