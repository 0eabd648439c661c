import { createMakeRoom } from '../../make-room.ts';
import type { SchemaRegistry } from '../../schema/schema-registry.ts';
import type { HeldRows } from '../held-rows.ts';
import type {
  ChangeBatch,
  FollowRequest,
  FollowResult,
  ReadIndex,
  SearchRequest,
  SearchResult,
  World,
} from '../read-index.ts';
import { applyLinks, applyRows } from './apply-batch.ts';
import { bindQuery } from './bind-query.ts';
import { followLinks } from './follow.ts';
import { createOrderCache, type OrderCache } from './order-cache.ts';
import { readHeldRows } from './read-held-rows.ts';
import { borrowBits, releaseBits } from './row-space.ts';
import { countMatches, selectAfter, selectPage } from './select-page.ts';
import { emptyUnused } from './source-blocks.ts';
import { createSourceStore, type LoadSource, type SourceStore, sourcesOf } from './source-store.ts';
import { createSpaces, type Spaces, worldSpace } from './spaces.ts';
import { createTimeLimit } from './time-limit.ts';
import { warmColumns } from './warm-columns.ts';
import { warmLike } from './warm-like.ts';

export type EmbeddedIndexOptions = {
  readonly registry: SchemaRegistry;
  /** Bytes of row sources kept in memory. What is beyond is read with `loadSource`, or kept all the same when there is none. */
  readonly sourceMemoryBytes?: number;
  readonly loadSource?: LoadSource;
  /** Rows in all cached sort orders together, 4 bytes each. */
  readonly maxOrderedRows?: number;
  /** A deleted row's place is used again after so many others were deleted in its space: `Hits.rows` live that long. */
  readonly reuseOrdinalsAfter?: number;
  /** Milliseconds of work on one answer; more is a QueryTooExpensive. Absent: no limit. */
  readonly queryTimeLimit?: number;
};

export type EmbeddedIndex = ReadIndex & {
  /** What it holds, for comparing it with what it should. */
  held(world: World): HeldRows;
};

type EmbeddedState = { readonly spaces: Spaces; readonly sources: SourceStore; readonly orders: OrderCache };

/** Of warming: a request waits so long at most. */
const SLICE_MS = 1;
/** What each index is made of, for others that are warmed like it. */
const STATES = new WeakMap<ReadIndex, EmbeddedState>();
const GIBIBYTE = 2 ** 30;
const DEFAULT_ORDERED_ROWS = 32 * 2 ** 20;
const DEFAULT_REUSE_AFTER = 1024;

/**
 * The read index inside the process: bitmaps over row ordinals, see docs/architecture.md. Every method does its work before it
 * returns its promise, so no reader sees half a batch.
 */
export function createEmbeddedIndex(options: EmbeddedIndexOptions): EmbeddedIndex {
  const spaces = createSpaces(options.registry, options.reuseOrdinalsAfter ?? DEFAULT_REUSE_AFTER);
  const state: EmbeddedState = {
    spaces,
    sources: createSourceStore(options.sourceMemoryBytes ?? GIBIBYTE, options.loadSource),
    orders: createOrderCache(spaces, options.maxOrderedRows ?? DEFAULT_ORDERED_ROWS),
  };
  const limit = createTimeLimit(options.queryTimeLimit ?? Number.POSITIVE_INFINITY);
  let position = 0n;
  let isOpen = true;
  const index: EmbeddedIndex = {
    apply: async (batch, beside) => {
      // An older batch's effects are in already, and rows may have changed since.
      if (batch.position < position) return;
      applyBatch(state, batch, beside && STATES.get(beside));
      position = batch.position;
    },
    position: () => position,
    search: async (request) => limit(request.answer, () => search(state, request)),
    follow: async (request) => limit(request.answer, () => follow(state, request)),
    explain: async (request) => explain(state, request),
    held: (world) => readHeldRows(spaces, state.sources, world),
    warm: (like) => warm(state, like === undefined ? undefined : STATES.get(like), () => isOpen),
    close: async () => {
      isOpen = false;
    },
  };
  STATES.set(index, state);
  return index;
}

/** Requests come first. */
async function warm(
  state: EmbeddedState,
  like: EmbeddedState | undefined,
  isWanted: () => boolean,
): Promise<void> {
  const makeRoom = createMakeRoom();
  let started = performance.now();
  const pause = async () => {
    await makeRoom(performance.now() - started);
    started = performance.now();
    return isWanted();
  };
  const slices = { pause, sliceMs: SLICE_MS };
  emptyUnused(state.sources.blocks);
  if (like === undefined || (await warmLike(state, like, slices))) await warmColumns(state.spaces, slices);
}

function applyBatch(state: EmbeddedState, batch: ChangeBatch, beside: EmbeddedState | undefined): void {
  applyRows(beside === undefined ? state : { ...state, beside: beside.spaces }, batch.rows);
  applyLinks(state, batch.links);
}

function search(state: EmbeddedState, request: SearchRequest): SearchResult {
  const { spaces, orders, sources } = state;
  const { world, query, withTotal } = request;
  const space = worldSpace(spaces, request.type, world);
  const everything = query.kind === 'match_all';
  const matched = everything ? space.live : borrowBits(space);
  if (!everything) bindQuery({ spaces, orders, world }, space, query).collect(matched);
  const count = countMatches(space, matched);
  const { rows, next } =
    request.cursor === undefined
      ? { rows: selectPage(orders, space, world, matched, count, request), next: undefined }
      : selectAfter(orders, space, world, matched, count, { ...request, after: request.cursor.after });
  if (!everything) releaseBits(space, matched);
  const hits = { rows, sources: sourcesOf(sources, space, rows) };
  return { total: withTotal ? count : undefined, hits, ...(next === undefined ? {} : { next }) };
}

function follow(state: EmbeddedState, request: FollowRequest): FollowResult {
  const { spaces, orders, sources } = state;
  return followLinks({ spaces, orders, world: request.world }, sources, request);
}

/** What the estimates say; one index is asked, whatever the query reaches. */
function explain({ spaces, orders }: EmbeddedState, { type, world, query }: SearchRequest): object {
  const space = worldSpace(spaces, type, world);
  const { estimate, cost } = bindQuery({ spaces, orders, world }, space, query);
  return { engine: 'embedded', rows: space.count, estimatedMatches: estimate, estimatedNanoseconds: cost };
}
