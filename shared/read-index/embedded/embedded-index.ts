import { setImmediate as nextTurn } from 'node:timers/promises';
import { defined } from '../../defined.ts';
import { createIdlePause } from '../../idle-pause.ts';
import type { SchemaRegistry } from '../../schema/schema-registry.ts';
import { createSequence } from '../../turns/sequence.ts';
import type { Slices } from '../../turns/slices.ts';
import { TURNS, type Turns } from '../../turns/turns.ts';
import type { IndexedContent } from '../indexed-content.ts';
import type { LocalRows, ReadIndex, SearchRequest, SearchResult, World } from '../read-index.ts';
import { createAnswers } from './answers.ts';
import { type Bits, countBits } from './lists/bits.ts';
import { bindQuery } from './match/bind-query.ts';
import { createKeptSets } from './match/kept-sets.ts';
import { createMatchedRows, FEW_MATCHES, type FewRows, type Matcher } from './match/matcher.ts';
import { pageByTests } from './match/page-by-tests.ts';
import { createOrderCache } from './order/order-cache.ts';
import { type CountedRows, createPageOfFew, createSelection, type Selected } from './order/select-page.ts';
import { type RowSetIndex, releaseBits } from './rows/row-set.ts';
import { createRowSets, worldRowSet } from './rows/row-sets.ts';
import { type CommonTerms, createCommonTerms } from './search/common-terms.ts';
import { createTextIndexes, createWordSearch, type WordSearchState } from './search/word-search.ts';
import { applyLinks, applyRows } from './sources/apply-batch.ts';
import { changedComponents } from './sources/changed-components.ts';
import { createRestore, indexParts } from './sources/index-parts.ts';
import { linkedAt } from './sources/linked-at.ts';
import { readIndexedContent } from './sources/read-indexed-content.ts';
import { sourceAt } from './sources/source-at.ts';
import { createSourceBlocks } from './sources/source-blocks.ts';
import { addSources, sourcesOf } from './sources/source-store.ts';
import { createLinkTraversal } from './traverse.ts';
import { warmColumns } from './warm-columns.ts';
import { countStaleRows, readBeforeSearch, readChangedRows, warmTexts } from './warm-texts.ts';

export type EmbeddedIndexOptions = {
  readonly registry: SchemaRegistry;
  /** Maximum rows in all cached sort orders together, at 4 bytes each. */
  readonly maxOrderedRows?: number;
  /** Nanoseconds of collecting the rows of a condition from which they are kept. 0: all are kept at once. */
  readonly keepSetsFrom?: number;
  /** The ordinal of a deleted row is reused after this many other deletions in its row set. Until then `Hits.rows` are valid. */
  readonly reuseOrdinalsAfter?: number;
  /** Milliseconds of work on one answer. More work is a QueryTooExpensive. Absent: no limit. */
  readonly queryTimeLimit?: number;
  /** Order of work. Absent: the order that all reads on this thread share. */
  readonly turns?: Turns;
  /** Maximum wait of a change for answers in progress, in milliseconds. */
  readonly patienceMs?: number;
};

export type EmbeddedIndex = ReadIndex & {
  readonly local: LocalRows;
  /** Returns the content of the index, for comparing it with the expected content. */
  content(world: World): IndexedContent;
  /** State of the index, which another index of the same content types can continue from. */
  readonly snapshot: IndexSnapshot;
};

export type IndexSnapshot = {
  /** Returns the state in parts that V8 can serialise. The index must not change before all have been read. Throws after a change that failed. */
  parts(): Iterable<unknown>;
  /** Gives an empty index the state at a position. After an error the index must not be used. */
  restore(parts: Iterable<unknown>, position: bigint): Promise<void>;
  /** Returns whether content has changed since the index was created or restored. */
  hasChanged(): boolean;
};

/** Number of rows whose sources are read between two checks of the clock. */
const FEW_ROWS = 100;
const PATIENCE_MS = 50;
/** Milliseconds of a slice of warming, which is the maximum wait of a request. */
const SLICE_MS = 1;
const DEFAULT_ORDERED_ROWS = 32 * 2 ** 20;
const DEFAULT_REUSE_AFTER = 1024;

/**
 * Creates the read index inside the process: bitmaps over row ordinals (see docs/embedded-index.md). Short work runs in one piece, long
 * work in slices. `createAnswers` gives every answer one state of the index, and no reader sees a part of a batch.
 */
export function createEmbeddedIndex(options: EmbeddedIndexOptions): EmbeddedIndex {
  const rowSets = createRowSets(options.registry, options.reuseOrdinalsAfter ?? DEFAULT_REUSE_AFTER);
  const state: WordSearchState = {
    rowSets,
    sources: createSourceBlocks(),
    orders: createOrderCache(rowSets, options.maxOrderedRows ?? DEFAULT_ORDERED_ROWS),
    kept: createKeptSets(options.keepSetsFrom),
    texts: createTextIndexes(),
  };
  const answers = createAnswers({
    turns: options.turns ?? TURNS,
    limit: options.queryTimeLimit ?? Number.POSITIVE_INFINITY,
    patienceMs: options.patienceMs ?? PATIENCE_MS,
    now: () => performance.now(),
  });
  let position = 0n;
  let isOpen = true;
  let change: 'none' | 'applied' | 'failed' = 'none';
  return {
    apply: (batch) =>
      answers.change(() => {
        // The index already has the effects of an older batch, and rows may have changed since.
        if (batch.position < position) return;
        state.kept.changes++;
        const after = batch.rows.length + batch.links.length > 0 ? 'applied' : change;
        change = 'failed';
        applyRows(state, batch.rows);
        applyLinks(state, batch.links);
        change = after;
        position = batch.position;
        readChangedRows(state, () => pausingSlices(() => isOpen));
      }),
    position: () => position,
    answer: answers.answer,
    search: (request) => {
      const find = () => answers.part(request.answer, () => createSearch(state, request));
      const reading = readBeforeSearch(state, request, () => isOpen);
      return reading === undefined ? find() : reading.then(find);
    },
    searchMany: async (requests) => {
      await Promise.all(requests.map((request) => readBeforeSearch(state, request, () => isOpen)));
      return answers.part(requests[0]?.answer, () => createSearches(state, requests));
    },
    traverse: (request) => answers.part(request.answer, () => createLinkTraversal(state, request)),
    explain: (request) => answers.part(request.answer, () => () => explain(state, request)),
    local: createLocalRows(state, () => isOpen),
    content: (world) => readIndexedContent(rowSets, world),
    snapshot: {
      parts() {
        if (change === 'failed') throw new Error('a change of the index failed');
        return indexParts(state);
      },
      async restore(parts, at) {
        const add = createRestore(state);
        for (const part of parts) {
          add(part);
          // Meanwhile requests are answered that the server is starting.
          await nextTurn();
        }
        position = at;
      },
      hasChanged: () => change !== 'none',
    },
    close: async () => {
      isOpen = false;
    },
  };
}

function createLocalRows(state: WordSearchState, isOpen: () => boolean): LocalRows {
  let warmed: Promise<void> | undefined;
  return {
    warm() {
      // If this fails, the first query reads the rest, and fails with the same error.
      warmed ??= warm(state, isOpen).catch(() => {});
      return warmed;
    },
    staleRows: () => countStaleRows(state),
    sourceAt: (rowSet, world, key) => sourceAt(state.rowSets, rowSet, world, key),
    linkedAt: (rowSet, key, at) => linkedAt(state.rowSets, rowSet, key, at),
    changedComponents: (change) => changedComponents(state.rowSets, change),
  };
}

async function warm(state: WordSearchState, isWanted: () => boolean): Promise<void> {
  const slices = pausingSlices(isWanted);
  if (await warmTexts(state, slices)) await warmColumns(state.rowSets, slices);
}

/** Returns slices with pauses, so that requests run first. */
function pausingSlices(isWanted: () => boolean): Slices {
  const idlePause = createIdlePause();
  let started = performance.now();
  const pause = async () => {
    await idlePause(performance.now() - started);
    started = performance.now();
    return isWanted();
  };
  return { pause, sliceMs: SLICE_MS };
}

/** Creates one search. If a call ends with its slice, the next call continues. */
function createSearch(
  state: WordSearchState,
  request: SearchRequest,
  common?: CommonTerms,
): () => SearchResult {
  if (request.text !== undefined || request.facets !== undefined || request.groups !== undefined)
    return createWordSearch(state, request, common ?? createCommonTerms());
  const rowSet = worldRowSet(state.rowSets, request.type, request.world);
  const select = createMatchedPage(state, rowSet, request);
  const found: Uint8Array[] = [];
  let selection: CountedRows | undefined;
  return () => {
    selection ??= select();
    const { rows, count, next } = selection;
    if (rows.length > FEW_ROWS) addSources(rowSet, rows, found);
    const sources = rows.length > FEW_ROWS ? found : sourcesOf(rowSet, rows);
    return { total: request.withTotal ? count : undefined, hits: { rows, sources }, ...defined({ next }) };
  };
}

/** Matches rows and selects a page of them. If a call ends with its slice, the next call continues. */
function createMatchedPage(
  { rowSets, orders, kept }: WordSearchState,
  rowSet: RowSetIndex,
  request: SearchRequest,
): () => CountedRows {
  const { world, query, cursor } = request;
  const context = { orders, rowSet, world };
  let matcher: Matcher | undefined;
  let collect: (() => Bits) | undefined;
  let borrowed: Bits | undefined;
  let select: (() => CountedRows) | undefined;
  const begin = (): (() => CountedRows) => {
    if (query.kind === 'match_all')
      return createPage({ ...context, matched: rowSet.present, count: rowSet.count }, request);
    matcher ??= bindQuery({ rowSets, orders, kept, world }, rowSet, query);
    const few = cursor === undefined ? fewFor(rowSet, matcher, request) : undefined;
    if (few !== undefined) {
      const page = createPageOfFew(context, few, request);
      return () => ({ count: few.length, rows: page() });
    }
    const tested = cursor === undefined ? pageByTests(context, matcher, request) : undefined;
    if (tested !== undefined) return () => tested;
    collect ??= createMatchedRows(rowSet, matcher);
    const matched = collect();
    if (matched !== matcher.bits) borrowed = matched;
    return createPage({ ...context, matched, count: countOf(matcher, matched) }, request);
  };
  return () => {
    select ??= begin();
    const selection = select();
    if (borrowed !== undefined) releaseBits(rowSet, borrowed);
    return selection;
  };
}

/** Returns the matching rows if a page of them needs no bits; undefined otherwise. */
function fewFor(
  { idsAscend }: RowSetIndex,
  { estimate, few }: Matcher,
  { sort }: SearchRequest,
): FewRows | undefined {
  return estimate <= FEW_MATCHES || (sort.length === 0 && idsAscend) ? few?.() : undefined;
}

function countOf({ isExact, estimate }: Matcher, matched: Bits): number {
  return isExact === true ? estimate : countBits(matched);
}

/** Selects a page of the matched rows. If a call ends with its slice, the next call continues. */
function createPage(selected: Selected, request: SearchRequest): () => CountedRows {
  const select = createSelection(selected, request);
  return () => {
    const { rows, next } = select();
    return { count: selected.count, rows, next };
  };
}

/** Creates several searches. Results are those of `createSearch`, in the order of the requests. */
function createSearches(
  state: WordSearchState,
  requests: readonly SearchRequest[],
): () => readonly SearchResult[] {
  const common = createCommonTerms();
  return createSequence(requests.map((request) => createSearch(state, request, common)));
}

/** Returns the estimates for a search, which are those of one index. */
function explain({ rowSets, orders, kept }: WordSearchState, { type, world, query }: SearchRequest): object {
  const rowSet = worldRowSet(rowSets, type, world);
  const { estimate, cost } = bindQuery({ rowSets, orders, kept, world }, rowSet, query);
  return { engine: 'embedded', rows: rowSet.count, estimatedMatches: estimate, estimatedNanoseconds: cost };
}
