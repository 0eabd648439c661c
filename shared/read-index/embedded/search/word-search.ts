import { defined } from '../../../defined.ts';
import { valueAt } from '../../../map-values.ts';
import { searchOf } from '../../../search/search-settings.ts';
import { hasWords } from '../../../search/split-words.ts';
import { createSequence } from '../../../turns/sequence.ts';
import type { BoolQuery } from '../../bool-query.ts';
import type { FacetCounts } from '../../facets.ts';
import type { SearchRequest, SearchResult, World } from '../../read-index.ts';
import { createRowGroups, type GroupedRows } from '../../row-groups.ts';
import type { OtherWords, PlacedRules, TextSearchReport } from '../../text-search.ts';
import { sortValue } from '../columns/indexed-column.ts';
import { createFacetCount } from '../facets/count-facets.ts';
import { andBits, type Bits, countBits, orBits } from '../lists/bits.ts';
import { bindQuery } from '../match/bind-query.ts';
import type { KeptSets } from '../match/kept-sets.ts';
import { createMatchedRows } from '../match/matcher.ts';
import { type OrderCache, orderFor } from '../order/order-cache.ts';
import { createSelection, type SelectedRows } from '../order/select-page.ts';
import { bindSort } from '../order/sort-rows.ts';
import { borrowBits, columnOf, type RowSetIndex } from '../rows/row-set.ts';
import { type RowSets, worldRowSet } from '../rows/row-sets.ts';
import type { SourceBlocks } from '../sources/source-blocks.ts';
import { sourcesOf } from '../sources/source-store.ts';
import { createTextIndex, isPerWorld, type TextIndex } from '../words/text-index.ts';
import type { CommonTerms } from './common-terms.ts';
import { createTextReport } from './find-corrections.ts';
import { createOtherWords } from './find-other-words.ts';
import type { LocaleSearch } from './locale-search.ts';
import { createPlacedRanks } from './place-ranks.ts';
import { createRanking, type RankedRows } from './rank-rows.ts';
import { createRankGroups } from './rank-term.ts';
import { type FoundTexts, matchTexts } from './search-texts.ts';
import { createGroupedPage } from './select-groups.ts';
import { createPlacedPage, createRankedPage } from './select-ranked.ts';

/** Words of each searched row set. There is one index per world if both worlds share the rows but not their relations. */
export type TextIndexes = { readonly [world in World]: Map<RowSetIndex, TextIndex> };

/** Creates the words of an index in which no row set was searched yet. */
export function createTextIndexes(): TextIndexes {
  return { draft: new Map(), published: new Map() };
}

export type WordSearchState = {
  readonly rowSets: RowSets;
  readonly sources: SourceBlocks;
  readonly orders: OrderCache;
  readonly kept: KeptSets;
  readonly texts: TextIndexes;
};

/** Rows that were found, and the request that selects some of them. */
type Found = {
  readonly rowSet: RowSetIndex;
  readonly request: SearchRequest;
  readonly matched: Bits;
  readonly count: number;
  readonly texts: RankedTexts | undefined;
};

/** A search by words, and the ranks of the rows that it found. */
type RankedTexts = {
  readonly index: TextIndex;
  /** Searches with all words of the query, and the rows within which they are searched. */
  readonly asked: readonly LocaleSearch[];
  readonly within: Bits;
  readonly found: FoundTexts;
  /** Ranks of the rows that have the words. */
  readonly rank: () => RankedRows;
  /** Rows of the documents that the owner pins. */
  readonly pinned: readonly (() => Bits)[];
};

/** Returns the words of a row set's texts. They are made at the first call. */
export function textIndexOf(
  { texts, rowSets }: WordSearchState,
  rowSet: RowSetIndex,
  world: World,
): TextIndex {
  const settings = searchOf(rowSets.registry, rowSet.type);
  const inWorld = texts[isPerWorld(settings) ? world : 'published'];
  return valueAt(inWorld, rowSet, () => createTextIndex(rowSets, world, rowSet, settings));
}

/**
 * Creates a search by words, or one that counts facets or groups rows. `common`: the words that it shares with other searches. If a call
 * ends with its slice, the next call continues.
 */
export function createWordSearch(
  state: WordSearchState,
  request: SearchRequest,
  common: CommonTerms,
): () => SearchResult {
  const rowSet = worldRowSet(state.rowSets, request.type, request.world);
  const find = createFind(state, rowSet, request, common);
  let found: Found | undefined;
  let select: (() => SelectedGroups) | undefined;
  let selected: SelectedGroups | undefined;
  let countFacets: (() => readonly FacetCounts[]) | undefined;
  let describe: (() => TextSearchReport) | undefined;
  let findOthers: (() => readonly OtherWords[]) | undefined;
  return () => {
    found ??= find();
    const { matched, count, texts } = found;
    select ??= createGroups(state, found);
    selected ??= select();
    if (texts !== undefined)
      describe ??= createTextReport(texts.index, texts.found, request.size === 0 ? undefined : texts.rank);
    const text = describe?.();
    findOthers ??= createOthers(found);
    const words = findOthers?.();
    countFacets ??= createSequence(
      (request.facets ?? []).map((facet) =>
        createFacetCount({ rowSets: state.rowSets, world: request.world, rowSet }, facet, { matched, count }),
      ),
    );
    const facets = countFacets();
    const { rows, next, groups, total = count } = selected;
    return {
      total: request.withTotal ? total : undefined,
      hits: { rows, sources: sourcesOf(rowSet, rows) },
      ...defined({ next, groups, text, words, facets: request.facets && facets }),
    };
  };
}

function createFind(
  state: WordSearchState,
  rowSet: RowSetIndex,
  request: SearchRequest,
  common: CommonTerms,
): () => Found {
  const { text, world, query } = request;
  const index = text && textIndexOf(state, rowSet, world);
  const terms = text && index && common(index, text);
  const pinned = pinnedRows(state, rowSet, request);
  const collectPinned = createSequence(pinned);
  let match: (() => Bits) | undefined;
  return () => {
    match ??= createRowsOf(state, rowSet, world, query);
    const rows = match();
    const found = text && index && terms ? matchTexts(index, terms(), rows, text.query) : undefined;
    const matched = found ? withPinned(rowSet, found.matched, rows, collectPinned()) : rows;
    const texts = index &&
      terms &&
      found && { index, asked: terms(), within: rows, found, rank: createLateRanking(index, found), pinned };
    return { rowSet, request, matched, count: countBits(matched), texts };
  };
}

/** Returns the rows of each document that the owner pins in a ranked search. */
function pinnedRows(
  state: WordSearchState,
  rowSet: RowSetIndex,
  { text, world }: SearchRequest,
): readonly (() => Bits)[] {
  if (text?.isRanked !== true || !hasWords(text.query)) return [];
  return (text.placed?.pinned ?? []).map((value) =>
    createRowsOf(state, rowSet, world, { kind: 'term', field: 'documentId', value }),
  );
}

/** Finds the rows of a query. If a call ends with its slice, the next call continues. */
function createRowsOf(
  { rowSets, orders, kept }: WordSearchState,
  rowSet: RowSetIndex,
  world: World,
  query: BoolQuery,
): () => Bits {
  return createMatchedRows(rowSet, bindQuery({ rowSets, orders, kept, world }, rowSet, query));
}

/** Adds the pinned rows among `within` to the rows that have the words. */
function withPinned(rowSet: RowSetIndex, matched: Bits, within: Bits, pinned: readonly Bits[]): Bits {
  if (pinned.length === 0) return matched;
  const all = borrowBits(rowSet);
  for (const bits of pinned) orBits(all, bits);
  andBits(all, within);
  orBits(all, matched);
  return all;
}

function createOthers({ request, texts }: Found): (() => readonly OtherWords[]) | undefined {
  const words = request.text?.words;
  if (texts === undefined || words === undefined) return undefined;
  if (words.kind === 'similar' && hasAllWords(texts)) return undefined;
  const { index, asked: searches, within } = texts;
  return createOtherWords(index, { searches, within }, words);
}

/** Returns whether some row has all words of the query: no last words were dropped. Rows that are only pinned do not count. */
function hasAllWords({ asked, found }: RankedTexts): boolean {
  return countBits(found.matched) > 0 && lastPlace(found.searches) === lastPlace(asked);
}

function lastPlace(searches: readonly LocaleSearch[]): number {
  return Math.max(...searches.flatMap(({ terms }) => terms.map(({ term }) => term.place)));
}

/** Creates ranks that are made when they are first needed. */
function createLateRanking(index: TextIndex, { searches, matched }: FoundTexts): () => RankedRows {
  let rank: (() => RankedRows) | undefined;
  return () => {
    rank ??= createRanking(index, searches, matched);
    return rank();
  };
}

/** Selected rows, and their groups if the request groups rows. */
type SelectedGroups = SelectedRows & Partial<GroupedRows>;

/** Selects a page of rows, or of groups. Groups need all rows in their order. */
function createGroups(state: WordSearchState, found: Found): () => SelectedGroups {
  const { rowSet, request } = found;
  const { groups: asked, from, size } = request;
  if (asked === undefined) return createPage(state, found);
  const select = createPage(state, {
    ...found,
    request: { ...request, from: 0, size: Number.POSITIVE_INFINITY },
  });
  const column = columnOf(rowSet, asked.field);
  const read = (row: number) => sortValue(column, row);
  const page = { from, size, limit: asked.limit };
  let group: (() => GroupedRows) | undefined;
  return () => {
    group ??= createRowGroups(select().rows, read, page);
    return group();
  };
}

function createPage(state: WordSearchState, found: Found): () => SelectedRows {
  const { rowSet, request, matched, count, texts } = found;
  const { world, cursor, from, size } = request;
  const context = { orders: state.orders, rowSet, world };
  if (request.text?.isRanked !== true || texts === undefined)
    return createSelection({ ...context, matched, count }, request);
  if (cursor === undefined && (size <= 0 || from >= count)) return () => ({ rows: [] });
  const { index, found: terms, rank } = texts;
  const { placed } = request.text;
  if (placed !== undefined) return createPlaced(state, { rowSet, request, matched, texts }, placed);
  const groups = createRankGroups(index, terms.searches, matched);
  if (groups !== undefined) return createGroupedPage(context, groups, request);
  const { keys } = orderFor(state.orders, rowSet, world, request.sort);
  let page: (() => SelectedRows) | undefined;
  return () => {
    page ??= createRankedPage(rowSet, keys, rank(), request);
    return page();
  };
}

/** Selects a page in the order of the owner's rules. */
function createPlaced(
  state: WordSearchState,
  { rowSet, request, matched, texts }: Omit<Found, 'count'> & { readonly texts: RankedTexts },
  placed: PlacedRules,
): () => SelectedRows {
  const { world, sort } = request;
  const boosted = placed.boosts.map(({ query }) => createRowsOf(state, rowSet, world, query));
  const { index, found, pinned } = texts;
  const isQuestion = found.searches.some(({ mode }) => mode === 'any');
  const rankAll = pinned.length === 0 ? texts.rank : createLateRanking(index, { ...found, matched });
  const rank = createPlacedRanks(rankAll, placed, { boosted, pinned }, isQuestion);
  const { keys } = orderFor(state.orders, rowSet, world, sort);
  const leading = bindSort(state.rowSets, rowSet, world, placed.keys).slice(0, -1);
  let page: (() => SelectedRows) | undefined;
  return () => {
    page ??= createPlacedPage(rowSet, { leading, keys }, rank(), request);
    return page();
  };
}
