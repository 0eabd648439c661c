import type { ContentGraph, ContentGraphOptions } from '../../projections/graph/content-graph.ts';
import { loadReadIndex } from '../../projections/graph/projector.ts';
import type { ParkedDocuments } from '../../projections/graph/stale/stale-documents.ts';
import type { WriterStatus } from '../../projections/index-writer/index-writer.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { AnsweringProcesses } from '../../shared/read-index/answering-processes.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import {
  createEmbeddedIndex,
  type EmbeddedIndexOptions,
} from '../../shared/read-index/embedded/embedded-index.ts';
import type { HeldRows } from '../../shared/read-index/held-rows.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { ReadIndex, World } from '../../shared/read-index/read-index.ts';
import type { StoredDocuments, StoredKey } from '../../shared/read-index/stored-documents.ts';
import { addSynonyms, type InstalledSynonyms } from '../../shared/schema/add-synonyms.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** Read index of a process, and its updates from the graph. */
export type ReadSide = {
  readonly index: ReadIndex;
  /** Receives every batch of changes, after the graph. */
  readonly sink: Pick<ReadIndex, 'apply'>;
  /**
   * Resolves when reads show a write at this position, and everything that embeds it if that is little; undefined if
   * they do as soon as the sink was called.
   */
  readonly visible: ((position: bigint) => Promise<void>) | undefined;
  /**
   * Resolves with true as soon as reads show everything up to a position, embedded copies included, with false after
   * `timeoutMs`; undefined if they do as soon as the sink was called.
   */
  readonly shows: ((position: bigint, timeoutMs: number) => Promise<boolean>) | undefined;
  /** Content of the index, for comparing it with the graph. */
  readonly contents: IndexContents;
  /** State of stale documents, if there are documents. */
  readonly status: (() => WriterStatus) | undefined;
  /** Documents that the index refuses, if there are documents. */
  readonly parked: ParkedDocuments | undefined;
  /**
   * Publishes the progress to other processes, if the index is outside the process. Only the live set's progress is
   * published.
   */
  readonly announcing: { start(): void; stop(): Promise<bigint> } | undefined;
  /**
   * From now on only this process writes the index, if it is outside the process, in this epoch. Resolves when reads
   * can be answered: if indices are missing or of other content types, after they are made and filled. May be called
   * again after `follow`. Also resolves when `follow` or `close` has ended it; rejects with a message after a permanent
   * refusal of the index, as with wrong credentials.
   */
  lead(epoch: number): Promise<void>;
  /**
   * Another process writes. Stops writing at once. Resolves when reads can be answered, or `lead` or `close` has ended
   * it.
   */
  follow(): Promise<void>;
  /** Returns whether no other process writes the index. */
  writesHere(): boolean;
  /**
   * Another process takes the place of this one, with other indices. From now on this one goes on writing its own, until it is
   * closed, and publishes no progress.
   */
  retire(): Promise<void>;
  /** Other processes that read the index, if it is outside the process. */
  readonly answering?: AnsweringProcesses;
  /** Rejects when the index cannot be updated any more. */
  readonly done: Promise<void>;
  close(): Promise<void>;
};

/** Content of an index, by its kind. */
export type IndexContents =
  | { readonly kind: 'rows'; readonly held: (world: World) => HeldRows }
  | {
      readonly kind: 'documents';
      readonly stored: StoredDocuments;
      readonly present: DocumentIndex['present'];
      /** Schedules documents to be made again. Throws a message if another process writes them. */
      readonly remake: (documents: readonly StoredKey[]) => Promise<void>;
    };

export type OpenReadSide = {
  /** For an index outside the process: the indices of a generation. Absent: the live ones. */
  readonly set?: IndexSet;
  /** Present if `set` is to be live once this process leads. Before that it is only written. */
  readonly switching?: SwitchingSearches | undefined;
};

export type SwitchingSearches = {
  /** Marks documents as stale that the live generation has not written. Called when nobody writes that any more. */
  inherit(): Promise<void>;
  /** Switches searches to the set, in the epoch of the lease. Rejects with a sentence if another process leads by now. */
  switch(epoch: number): Promise<EarlierIndices | undefined>;
};

/** Indices that searches found before, and that other processes read for a moment yet. */
export type EarlierIndices = {
  readonly set: IndexSet;
  /** Those of them that are not live any more. */
  readonly writes: WrittenIndices;
  readonly forMs: number;
};

/** Returns whether documents of a type and world are written. */
export type WrittenIndices = (type: Uid, world: World) => boolean;

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

/** A kind of read side: its needs of the graph, and how it is opened once that has caught up with the log. */
export type ReadSidePlan = {
  readonly graph: ContentGraphOptions;
  /** Reads can be answered when its `lead` or its `follow` has resolved. */
  open(graph: ContentGraph, log: EventStore, options?: OpenReadSide): Promise<ReadSide>;
  /** Present if indices are outside the process. */
  readonly outside?: OutsideIndices;
};

/** The index inside this process. */
export function embeddedReadSide({
  synonyms = {},
  ...options
}: Pick<EmbeddedIndexOptions, 'queryTimeLimit'> & {
  readonly synonyms?: InstalledSynonyms;
}): ReadSidePlan {
  return {
    graph: {},
    async open(graph) {
      // Types of the graph, including those in the log that are no longer in the folder.
      const index = createEmbeddedIndex({ ...options, registry: addSynonyms(graph.registry(), synonyms) });
      await loadReadIndex(graph, index);
      void index.warm?.();
      const closed = Promise.withResolvers<void>();
      return {
        index,
        sink: index,
        visible: undefined,
        shows: undefined,
        status: undefined,
        contents: { kind: 'rows', held: index.held },
        parked: undefined,
        announcing: undefined,
        lead: async () => {},
        follow: async () => {},
        writesHere: () => true,
        retire: async () => {},
        done: closed.promise,
        async close() {
          await index.close();
          closed.resolve();
        },
      };
    },
  };
}
