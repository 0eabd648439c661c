import type { ContentGraph, ContentGraphOptions } from '../../projections/graph/content-graph.ts';
import type { ParkedDocuments } from '../../projections/graph/stale/stale-documents.ts';
import type { WriterStatus } from '../../projections/index-writer/index-writer.ts';
import { loadReadIndex } from '../../projections/projector/projector.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import {
  createEmbeddedIndex,
  type EmbeddedIndexOptions,
} from '../../shared/read-index/embedded/embedded-index.ts';
import type { HeldRows } from '../../shared/read-index/held-rows.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { ReadIndex, World } from '../../shared/read-index/read-index.ts';
import type { StoredDocuments, StoredKey } from '../../shared/read-index/stored-documents.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** Where reads are answered, and how it is kept level with the graph. */
export type ReadSide = {
  readonly index: ReadIndex;
  /** Told of every batch of changes, after the graph. */
  readonly sink: Pick<ReadIndex, 'apply'>;
  /**
   * Resolves when reads show what a write up to this position changed, and all that embeds it where that is little; undefined
   * where they do once the sink was told.
   */
  readonly visible: ((position: bigint) => Promise<void>) | undefined;
  /**
   * True as soon as reads show everything up to a position, embedded copies included, false when `timeoutMs` is over; undefined
   * where they do once the sink was told.
   */
  readonly shows: ((position: bigint, timeoutMs: number) => Promise<boolean>) | undefined;
  /** What the index has, for comparing it with the graph. */
  readonly contents: IndexContents;
  /** Of documents that are out of date, where there are documents. */
  readonly status: (() => WriterStatus) | undefined;
  /** Those that the index refuses, where there are documents. */
  readonly parked: ParkedDocuments | undefined;
  /** Where the index is outside the process: whether others are told how far this one is. Those of a set that is not live are not. */
  readonly announcing: { start(): void; stop(): Promise<bigint> } | undefined;
  /**
   * From now on this process alone writes the index, if it is outside the process, in this epoch. Resolves when reads can be
   * answered: where indices are missing or of other content types that is once they are made and filled. May be called again
   * after `follow`. Also resolves when `follow` or `close` has ended it meanwhile; rejects with a sentence when the index
   * refuses for good, as with wrong credentials.
   */
  lead(epoch: number): Promise<void>;
  /** Another process writes. Stops writing at once. Resolves when reads can be answered, or `lead` or `close` has ended it. */
  follow(): Promise<void>;
  /** Rejects when the index cannot be kept level any more. */
  readonly done: Promise<void>;
  close(): Promise<void>;
};

/** What an index has, as its kind has it. */
export type IndexContents =
  | { readonly kind: 'rows'; readonly held: (world: World) => HeldRows }
  | {
      readonly kind: 'documents';
      readonly stored: StoredDocuments;
      readonly present: DocumentIndex['present'];
      /** Has documents made anew. Throws a sentence where another process writes them. */
      readonly remake: (documents: readonly StoredKey[]) => Promise<void>;
    };

export type OpenReadSide = {
  /** What is serving in this process meanwhile: most of the time is left to it, and what its queries have had made is made here too. */
  readonly beside?: ReadIndex;
  /** Of an index outside the process: the indices of a generation that is not live. Absent: the live ones. */
  readonly set?: IndexSet;
  /** Of these: those that are written here, where the live generation writes the others. Absent: all. */
  readonly writes?: WrittenIndices;
};

/** Whether documents of a type and world are written. */
export type WrittenIndices = (type: Uid, world: World) => boolean;

/** Indices outside the process. */
export type OutsideIndices = {
  /** For content types. */
  open(registry: SchemaRegistry, log: EventStore): Promise<DocumentSets>;
  /** Of the newest leader that has written the indices. */
  newestEpoch(): Promise<number>;
  /** Whether searches find this set, all of it. */
  isLive(set: IndexSet): Promise<boolean>;
  /** Those of a set that searches do not find. */
  own(set: IndexSet): Promise<WrittenIndices>;
  /** Removes what searches do not find of a set. */
  remove(set: IndexSet): Promise<void>;
};

/** The sets of indices outside the process; what each call asks of them may be away, and is rejected then. */
export type DocumentSets = {
  /** What searches find now. */
  live(): Promise<IndexSet>;
  /** Names of a new set: indices of its own within the scope, the live ones beyond. */
  plan(scope: { readonly type?: Uid; readonly world?: World }): Promise<IndexSet>;
  /** Makes those that are not there. */
  make(set: IndexSet): Promise<void>;
  /** Whether all of it is there, made from this log for these content types. */
  fits(set: IndexSet): Promise<boolean>;
  /**
   * In one call searches find this set; what they found before is kept. `epoch`: of the leader that has it done. False: nothing
   * was done, as another leads by now.
   */
  promote(set: IndexSet, epoch: number): Promise<boolean>;
  /** What writes a set and reads it back. */
  documents(set: IndexSet): { readonly index: DocumentIndex; readonly stored: StoredDocuments };
  close(): Promise<void>;
};

/** A kind of read side: what it asks of the graph, and how it is opened once that is level with the log. */
export type ReadSidePlan = {
  readonly graph: ContentGraphOptions;
  /** Reads can be answered once its `lead` or its `follow` has resolved. */
  open(graph: ContentGraph, log: EventStore, options?: OpenReadSide): Promise<ReadSide>;
  /** Where indices are outside the process. */
  readonly outside?: OutsideIndices;
};

/** The index inside this process. */
export function embeddedReadSide(options: Pick<EmbeddedIndexOptions, 'queryTimeLimit'>): ReadSidePlan {
  return {
    graph: {},
    async open(graph, _log, { beside } = {}) {
      // What the graph holds, types that are in the log and no more in the folder included.
      const index = createEmbeddedIndex({ ...options, registry: graph.registry() });
      await loadReadIndex(graph, index, beside);
      const warming = index.warm?.(beside);
      if (beside !== undefined) await warming;
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
        done: closed.promise,
        async close() {
          await index.close();
          closed.resolve();
        },
      };
    },
  };
}
