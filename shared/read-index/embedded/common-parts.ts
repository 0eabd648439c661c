import type { BoolQuery } from '../bool-query.ts';
import type { SearchRequest, World } from '../read-index.ts';
import type { TextSearch } from '../text-search.ts';
import { bindQuery } from './bind-query.ts';
import { andBits, type Bits, orBits } from './bits.ts';
import type { LocaleSearch } from './locale-search.ts';
import type { Matcher } from './matcher.ts';
import type { OrderCache } from './order-cache.ts';
import { borrowBits, type RowSpaceIndex } from './row-space.ts';
import { createTextTerms } from './search-texts.ts';
import { type Spaces, worldSpace } from './spaces.ts';
import type { TextIndex } from './text-index.ts';

/** Parts that several searches have in common. Each is evaluated once, when first asked for. */
export type CommonParts = {
  /** The rows that match a request's query, in bits that nobody changes. Where a call ends with its slice, the next continues it. */
  match(space: RowSpaceIndex, request: SearchRequest): () => Bits;
  /** The terms of a search by words. */
  terms(index: TextIndex, text: TextSearch): () => readonly LocaleSearch[];
};

type Context = { readonly spaces: Spaces; readonly orders: OrderCache };

export function createCommonParts(context: Context, requests: readonly SearchRequest[]): CommonParts {
  const uses = countConditions(context.spaces, requests);
  const rows = new Map<string, () => Bits>();
  const terms = new Map<TextIndex, Map<string, () => readonly LocaleSearch[]>>();
  const match = (space: RowSpaceIndex, world: World, query: BoolQuery): (() => Bits) => {
    const name = nameOf(space, world, query);
    const collect = rows.get(name) ?? createCollect({ ...context, world }, space, query);
    if ((uses.get(name) ?? 0) > 1) rows.set(name, collect);
    return collect;
  };
  return {
    match(space, { query, world }) {
      const conditions = conditionsOf(query);
      const shared =
        uses.size === 0 ? [] : conditions.filter((each) => (uses.get(nameOf(space, world, each)) ?? 0) > 1);
      const own = conditions.filter((each) => !shared.includes(each));
      const parts = shared.map((each) => match(space, world, each));
      // Together, so that the cheapest of them comes first.
      if (own.length > 0) parts.push(createCollect({ ...context, world }, space, joined(own)));
      return createIntersection(space, parts);
    },
    terms(index, text) {
      const known = terms.get(index) ?? new Map<string, () => readonly LocaleSearch[]>();
      terms.set(index, known);
      const { query, locales, fields, typoTolerance } = text;
      const name = JSON.stringify([query, locales, typoTolerance, fields && [...fields].sort()]);
      const find = known.get(name) ?? createTextTerms(index, text);
      known.set(name, find);
      return find;
    },
  };
}

function joined(conditions: readonly BoolQuery[]): BoolQuery {
  const [only] = conditions;
  return conditions.length === 1 && only !== undefined ? only : { kind: 'bool', filter: conditions };
}

/** The conditions that a row has to satisfy, all of them. */
function conditionsOf(query: BoolQuery): readonly BoolQuery[] {
  if (query.kind === 'match_all') return [];
  const isConjunction = query.kind === 'bool' && query.should === undefined && query.must_not === undefined;
  return isConjunction ? (query.filter ?? []).flatMap(conditionsOf) : [query];
}

/** How many of the requests have each condition. */
function countConditions(spaces: Spaces, requests: readonly SearchRequest[]): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  if (requests.length < 2) return uses;
  for (const { type, world, query } of requests) {
    const space = worldSpace(spaces, type, world);
    const names = conditionsOf(query).map((each) => nameOf(space, world, each));
    for (const name of new Set(names)) uses.set(name, (uses.get(name) ?? 0) + 1);
  }
  return uses;
}

function nameOf({ number }: RowSpaceIndex, world: World, query: BoolQuery): string {
  return `${number} ${world} ${JSON.stringify(query, exactNumbers)}`;
}

/** JSON has no bigint. */
function exactNumbers(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? { bigint: String(value) } : value;
}

type CollectContext = Context & { readonly world: World };

function createCollect(context: CollectContext, space: RowSpaceIndex, query: BoolQuery): () => Bits {
  let matcher: Matcher | undefined;
  let rows: Bits | undefined;
  let isCollected = false;
  return () => {
    rows ??= borrowBits(space);
    if (isCollected) return rows;
    matcher ??= bindQuery(context, space, query);
    matcher.collect(rows);
    isCollected = true;
    return rows;
  };
}

function createIntersection(space: RowSpaceIndex, parts: readonly (() => Bits)[]): () => Bits {
  const [only] = parts;
  if (only === undefined) return () => space.live;
  if (parts.length === 1) return only;
  let rows: Bits | undefined;
  return () => {
    if (rows !== undefined) return rows;
    // Those that are there already cost nothing when a slice ends here.
    const found = parts.map((part) => part());
    rows = borrowBits(space);
    for (const [at, each] of found.entries()) at === 0 ? orBits(rows, each) : andBits(rows, each);
    return rows;
  };
}
