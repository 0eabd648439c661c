import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { StoredDocuments } from '../../shared/read-index/stored-documents.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** Returns whether documents of a type and world are written. */
export type WrittenIndices = (type: Uid, world: World) => boolean;

/** Indices that searches used before, and that other processes still read for a moment. */
export type EarlierIndices = {
  readonly set: IndexSet;
  /** Returns whether an index of the set is no longer live. */
  readonly writes: WrittenIndices;
  readonly forMs: number;
};

/** Identity for a caller that makes no sets and switches to none. */
export const NO_DIRECTORY = 'none';

/** Indices outside the process. */
export type OutsideIndices = {
  /** Opens the index sets of a data directory for these content types. */
  open(registry: SchemaRegistry, log: EventStore, directory: string): Promise<DocumentSets>;
  /** Returns the epoch of the newest leader that has written the indices. */
  newestEpoch(): Promise<number>;
  /** Returns whether searches use all indices of this set. */
  isLive(set: IndexSet): Promise<boolean>;
  /** Returns the indices of a set that searches do not use. */
  own(set: IndexSet): Promise<WrittenIndices>;
  /** Removes the indices of a set that searches do not use. */
  remove(set: IndexSet): Promise<void>;
  /** Removes the indices of attempts that no process continues. Only the leader calls it. Resolves to the indices that exist afterwards. */
  sweep(
    sweep: SweptBy,
  ): Promise<{ readonly removed: readonly string[]; readonly existing: ReadonlySet<string> }>;
};

/** The leader that removes indices. */
export type SweptBy = {
  /** Identity of its data directory. */
  readonly directory: string;
  readonly epoch: number;
  /** Returns the indices that the record of its data directory names. */
  readonly recorded: () => ReadonlySet<string>;
  /** True: also removes the indices that other data directories could roll back to. */
  readonly previousOfOthers: boolean;
};

/** Index sets outside the process; a call rejects if they are unreachable. */
export type DocumentSets = {
  /** Returns the set that searches use now. */
  live(): Promise<IndexSet>;
  /** Returns the names of a new set: new indices within the scope, and the live indices outside of it. */
  plan(scope: { readonly type?: Uid; readonly world?: World }): Promise<IndexSet>;
  /** Makes the missing indices. */
  make(set: IndexSet): Promise<void>;
  /** Returns whether the set is complete, made from this log for these content types. */
  fits(set: IndexSet): Promise<boolean>;
  /**
   * Switches searches to this set in one call, and keeps the previous set. `epoch`: the epoch of the leader that switches. Returns false
   * and does nothing if there is a newer leader.
   */
  promote(set: IndexSet, epoch: number): Promise<boolean>;
  /** Merges the segments of the set's indices that searches do not use, after these were filled. Resolves early if `signal` is aborted. */
  merge(set: IndexSet, signal: AbortSignal): Promise<void>;
  /** Returns the parts that write a set and read it back. */
  documents(set: IndexSet): { readonly index: DocumentIndex; readonly stored: StoredDocuments };
  close(): Promise<void>;
};
