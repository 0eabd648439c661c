import { wrapBigint } from '../../../json.ts';
import { valueAt } from '../../../map-values.ts';
import type { BoolQuery } from '../../bool-query.ts';
import type { SearchRequest, World } from '../../read-index.ts';
import type { TextSearch } from '../../text-search.ts';
import { andBits, type Bits, orBits } from '../lists/bits.ts';
import { bindQuery } from '../match/bind-query.ts';
import type { Matcher } from '../match/matcher.ts';
import type { OrderCache } from '../order/order-cache.ts';
import { borrowBits, type RowSetIndex } from '../rows/row-set.ts';
import { type RowSets, worldRowSet } from '../rows/row-sets.ts';
import type { TextIndex } from '../words/text-index.ts';
import type { LocaleSearch } from './locale-search.ts';
import { createTextTerms } from './search-texts.ts';

/** Parts of several searches that are the same. Each part is evaluated once, when it is first used. */
export type CommonParts = {
  /**
   * Returns the rows that match a request's query. The bits must not be changed. If a call ends with its slice, the next call continues.
   */
  match(rowSet: RowSetIndex, request: SearchRequest): () => Bits;
  /** Returns the terms of a search by words. */
  terms(index: TextIndex, text: TextSearch): () => readonly LocaleSearch[];
};

type Context = { readonly rowSets: RowSets; readonly orders: OrderCache };

/** Finds the conditions that several requests share. Each is evaluated when a request first needs it. */
export function createCommonParts(context: Context, requests: readonly SearchRequest[]): CommonParts {
  const uses = countConditions(context.rowSets, requests);
  const rows = new Map<string, () => Bits>();
  const terms = new Map<TextIndex, Map<string, () => readonly LocaleSearch[]>>();
  const match = (rowSet: RowSetIndex, world: World, query: BoolQuery): (() => Bits) => {
    const name = nameOf(rowSet, world, query);
    const collect = rows.get(name) ?? createCollect({ ...context, world }, rowSet, query);
    if ((uses.get(name) ?? 0) > 1) rows.set(name, collect);
    return collect;
  };
  return {
    match(rowSet, { query, world }) {
      const conditions = conditionsOf(query);
      const shared =
        uses.size === 0 ? [] : conditions.filter((each) => (uses.get(nameOf(rowSet, world, each)) ?? 0) > 1);
      const own = conditions.filter((each) => !shared.includes(each));
      const parts = shared.map((each) => match(rowSet, world, each));
      // These conditions are evaluated together, so that the cheapest runs first.
      if (own.length > 0) parts.push(createCollect({ ...context, world }, rowSet, joined(own)));
      return createIntersection(rowSet, parts);
    },
    terms(index, text) {
      const { query, locales, fields, typoTolerance } = text;
      const name = JSON.stringify([query, locales, typoTolerance, fields && [...fields].sort()]);
      const known = valueAt(terms, index, () => new Map());
      return valueAt(known, name, () => createTextTerms(index, text));
    },
  };
}

function joined(conditions: readonly BoolQuery[]): BoolQuery {
  const [only] = conditions;
  return conditions.length === 1 && only !== undefined ? only : { kind: 'bool', filter: conditions };
}

/** Returns the conditions that a row must satisfy. */
function conditionsOf(query: BoolQuery): readonly BoolQuery[] {
  if (query.kind === 'match_all') return [];
  const isConjunction = query.kind === 'bool' && query.should === undefined && query.must_not === undefined;
  return isConjunction ? (query.filter ?? []).flatMap(conditionsOf) : [query];
}

/** Counts the requests that have each condition. */
function countConditions(rowSets: RowSets, requests: readonly SearchRequest[]): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  if (requests.length < 2) return uses;
  for (const { type, world, query } of requests) {
    const rowSet = worldRowSet(rowSets, type, world);
    const names = conditionsOf(query).map((each) => nameOf(rowSet, world, each));
    for (const name of new Set(names)) uses.set(name, (uses.get(name) ?? 0) + 1);
  }
  return uses;
}

function nameOf({ number }: RowSetIndex, world: World, query: BoolQuery): string {
  return `${number} ${world} ${JSON.stringify(query, wrapBigint)}`;
}

type CollectContext = Context & { readonly world: World };

function createCollect(context: CollectContext, rowSet: RowSetIndex, query: BoolQuery): () => Bits {
  let matcher: Matcher | undefined;
  let rows: Bits | undefined;
  let isCollected = false;
  return () => {
    rows ??= borrowBits(rowSet);
    if (isCollected) return rows;
    matcher ??= bindQuery(context, rowSet, query);
    matcher.collect(rows);
    isCollected = true;
    return rows;
  };
}

function createIntersection(rowSet: RowSetIndex, parts: readonly (() => Bits)[]): () => Bits {
  const [only] = parts;
  if (only === undefined) return () => rowSet.present;
  if (parts.length === 1) return only;
  let rows: Bits | undefined;
  return () => {
    if (rows !== undefined) return rows;
    // If a slice ends here, finished parts are not computed again.
    const found = parts.map((part) => part());
    rows = borrowBits(rowSet);
    for (const [at, each] of found.entries()) at === 0 ? orBits(rows, each) : andBits(rows, each);
    return rows;
  };
}
