import { type Condition, createCondition } from '../../shared/condition.ts';
import type {
  ObservedContent,
  ObservedDefinition,
} from '../../shared/read-index/elasticsearch/indices/observe-indices.ts';
import type { IndexFault } from '../../shared/read-index/index-fault.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { DocumentRoleOptions } from './document-role.ts';
import type { Finding, WrittenIndex } from './find-fault.ts';

export type WatchIndicesOptions = Pick<
  DocumentRoleOptions,
  'cluster' | 'graph' | 'stale' | 'log' | 'report' | 'own' | 'isNewest'
> & {
  readonly epoch: number;
  readonly signal: AbortSignal;
  /** Makes the indices of these types again. */
  readonly makeAgain: (types: readonly Uid[], making: MakingIndices) => Promise<unknown>;
  /** Called when the index of the progress was replaced: the progress has to be written again. */
  readonly announceAgain: () => void;
};

/** Indices that are being made again. */
export type MakingIndices = {
  /** Aborted if they have to be made once more, or if this process does not write any more. */
  readonly signal: AbortSignal;
  /** Called when the new indices exist and are being filled. */
  filling(set: IndexSet): void;
  /** Called when searches find the new indices of these types. */
  adopt(set: IndexSet, types: readonly Uid[]): Promise<void>;
};

/** State of a watch: the indices as they were written, and as they were observed last. */
export type WatchState = WatchIndicesOptions & {
  /** Indices that are written, by alias. */
  readonly written: Map<string, WrittenIndex>;
  /** Faults of content. They last until the indices are made again. */
  readonly lost: Map<Uid, IndexFault>;
  /** Positions that searches of types must show again before their reads are right. */
  readonly behind: Map<Uid, bigint>;
  /** Types whose reads are still refused, and which positions count again. */
  readonly counted: Set<Uid>;
  /** Numbers of documents, as they were counted. */
  readonly counts: DocumentCounts;
  faults: readonly IndexFault[];
  contents: ReadonlyMap<string, ObservedContent>;
  definitions: ReadonlyMap<string, ObservedDefinition>;
  /** State of the cluster to which `definitions` belong; undefined before it was read. */
  observed: { readonly cluster: string; readonly version: number } | undefined;
  /** Identity of the index of the progress. */
  base: string | undefined;
  isPublished: boolean;
  isRecorded: boolean;
  making: Making | undefined;
  /** Checked when an index was made again. */
  readonly changed: Condition;
};

/** Numbers of documents in the indices that are written, see `countDocuments`. */
export type DocumentCounts = {
  /** State of each index in which it had all documents and no others. */
  readonly right: Map<string, string>;
  /** Difference of each index in the last look. Only the same difference in the next look is a fault. */
  readonly suspected: Map<string, number>;
  /** When and how often an index was made again because of its count, by alias, until it is right. */
  readonly remade: Map<string, Remade>;
};

/** Attempts to make an index again because of its count. `at`: time of the last one. `difference`: the one that it was to end. */
export type Remade = {
  readonly at: number;
  readonly times: number;
  readonly difference: number;
  readonly isReported: boolean;
};

/** An attempt to make indices again. */
export type Making = {
  readonly ending: AbortController;
  /** Names of the new indices; empty before they exist. */
  indices: readonly string[];
};

/** Creates the state before anything was observed. */
export function createWatchState(options: WatchIndicesOptions): WatchState {
  return {
    ...options,
    written: new Map(),
    lost: new Map(),
    behind: new Map(),
    counted: new Set(),
    counts: { right: new Map(), suspected: new Map(), remade: new Map() },
    faults: [],
    contents: new Map(),
    definitions: new Map(),
    observed: undefined,
    base: undefined,
    isPublished: false,
    isRecorded: false,
    making: undefined,
    changed: createCondition(),
  };
}

/** Reads both. */
export async function observeAll(state: WatchState): Promise<void> {
  await observeContents(state);
  await observeDefinitions(state);
}

/** Reads the state of the indices' shards. */
export async function observeContents(state: WatchState): Promise<void> {
  const { cluster, making } = state;
  const filled = making?.indices ?? [];
  state.contents = await cluster.watched.observer.contents();
  // Nobody could write a new index that was removed before it is used: the next attempt makes another one.
  if (filled.some((index) => state.contents.get(index)?.isOpen !== true)) making?.ending.abort();
  const isMissing = [...state.written.values()].some(({ index }) => !state.contents.has(index));
  // The cluster reports no content of an index without a shard, so its definition decides whether it exists.
  if (isMissing) await readDefinitions(state);
}

/** Reads the definitions of the indices. An answer that is older than those known is ignored: its node has not heard of the change yet. */
export async function readDefinitions(state: WatchState): Promise<void> {
  const { cluster, version, indices } = await state.cluster.watched.observer.definitions();
  const { observed } = state;
  if (observed?.cluster === cluster && version < observed.version) return;
  state.definitions = indices;
  state.observed = { cluster, version };
}

/** Reads the definitions of the indices if the cluster has changed. */
export async function observeDefinitions(state: WatchState): Promise<void> {
  const { observer } = state.cluster.watched;
  if ((await observer.version()) === state.observed?.version) return;
  await readDefinitions(state);
  // A restored index has another mapping version too. Its content gives the better reason.
  await observeContents(state);
}

/** Takes indices of a set as those that are written, with their identities as observed. */
export function know(state: WatchState, set: IndexSet): void {
  for (const [alias, index] of Object.entries(set)) {
    const { uuid, histories, isAssigned = false } = state.contents.get(index) ?? {};
    const mapping = state.definitions.get(index)?.mapping;
    state.written.set(alias, { index, uuid, histories: isAssigned ? histories : undefined, mapping });
  }
  state.isRecorded = false;
}

/** Records that the index of a type has to be made again. Reads of the type are refused until then. */
export function lose(state: WatchState, type: Uid, { kind, reason }: Finding): void {
  if (state.lost.has(type)) return;
  state.lost.set(type, { type, kind, reason, since: new Date().toISOString(), refusesReads: true });
  state.isRecorded = false;
}
