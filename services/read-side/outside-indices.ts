import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { StoredDocuments } from '../../shared/read-index/stored-documents.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** Returns whether documents of a type and world are written. */
export type WrittenIndices = (type: Uid, world: World) => boolean;

/** Indices that searches found before, and that other processes read for a moment yet. */
export type EarlierIndices = {
  readonly set: IndexSet;
  /** Those of them that are not live any more. */
  readonly writes: WrittenIndices;
  readonly forMs: number;
};

/** Indices outside the process. */
export type OutsideIndices = {
  /** For content types. */
  open(registry: SchemaRegistry, log: EventStore): Promise<DocumentSets>;
  /** Epoch of the newest leader that has written the indices. */
  newestEpoch(): Promise<number>;
  /** Returns whether searches find all of this set. */
  isLive(set: IndexSet): Promise<boolean>;
  /** Indices of a set that searches do not find. */
  own(set: IndexSet): Promise<WrittenIndices>;
  /** Removes the indices of a set that searches do not find. */
  remove(set: IndexSet): Promise<void>;
};

/** Index sets outside the process; a call rejects if they are unreachable. */
export type DocumentSets = {
  /** Set that searches find now. */
  live(): Promise<IndexSet>;
  /** Names of a new set: new indices within the scope, the live ones outside of it. */
  plan(scope: { readonly type?: Uid; readonly world?: World }): Promise<IndexSet>;
  /** Makes the missing indices. */
  make(set: IndexSet): Promise<void>;
  /** Returns whether the set is complete, made from this log for these content types. */
  fits(set: IndexSet): Promise<boolean>;
  /**
   * Switches searches to this set in one call; keeps the previous set. `epoch`: of the leader that does it. Returns
   * false and does nothing if there is a newer leader.
   */
  promote(set: IndexSet, epoch: number): Promise<boolean>;
  /** Writes a set and reads it back. */
  documents(set: IndexSet): { readonly index: DocumentIndex; readonly stored: StoredDocuments };
  close(): Promise<void>;
};
