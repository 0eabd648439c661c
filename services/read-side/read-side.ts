import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { GraphFileOptions } from '../../projections/graph/graph-file.ts';
import type { ParkedDocuments } from '../../projections/graph/stale/stale-documents.ts';
import type { WriterStatus } from '../../projections/index-writer/writer-report.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import type { ClusterWatch } from '../../shared/read-index/cluster-health.ts';
import type { DocumentIndex } from '../../shared/read-index/document-index.ts';
import type { IndexFault } from '../../shared/read-index/index-fault.ts';
import type { IndexSet } from '../../shared/read-index/index-set.ts';
import type { IndexedContent } from '../../shared/read-index/indexed-content.ts';
import type { PurgingLeaderStore } from '../../shared/read-index/purging-leader.ts';
import type { ReadIndex, World } from '../../shared/read-index/read-index.ts';
import type { StoredDocuments, StoredKey } from '../../shared/read-index/stored-documents.ts';
import type { EarlierIndices, OutsideIndices } from './outside-indices.ts';

/** Read index of a process, and its updates from the graph. */
export type ReadSide = {
  readonly index: ReadIndex;
  /** Receives every batch of changes, after the graph. */
  readonly sink: Pick<ReadIndex, 'apply'>;
  /** Resolves when reads show a write at this position, and also the documents that embed it, if there are few. */
  visible(position: bigint): Promise<void>;
  /**
   * Resolves with true as soon as reads show everything up to a position, also in embedded copies. Resolves with false after `timeoutMs`.
   * An index in the process shows everything as soon as the sink was called.
   */
  shows(position: bigint, timeoutMs: number): Promise<boolean>;
  /** Returns the current content of the index, for comparing it with the graph. */
  contents(): IndexContents;
  /** Begins to publish its progress to other processes, if they read the same index and the set is live. */
  announce(): void;
  /**
   * Makes this process the only one that writes an index outside the process, in this epoch. Resolves with true when reads can be answered.
   * If indices are missing or have other content types, they are made and filled first. Resolves with false when `standBy` or `close` has
   * ended it, or another process has become leader. Rejects with a message after a permanent refusal of the index, for example because of
   * wrong credentials. May be called again after `standBy`.
   */
  lead(epoch: number): Promise<boolean>;
  /**
   * Stops writing at once, because another process writes. Resolves with true when reads can be answered, with false when `lead` or `close`
   * has ended it.
   */
  standBy(): Promise<boolean>;
  /** Returns whether no other process writes the index. */
  writesHere(): boolean;
  /**
   * Called when another process replaces this one, with other indices. Until it is closed, this process still writes its own indices, and
   * publishes no progress.
   */
  retire(): Promise<void>;
  /** Rejects when the index cannot be updated any more. */
  readonly done: Promise<void>;
  close(): Promise<void>;
};

/** Content of an index, by its kind. */
export type IndexContents =
  | { readonly kind: 'rows'; readonly content: (world: World) => IndexedContent }
  | DocumentContents;

export type DocumentContents = {
  readonly kind: 'documents';
  readonly stored: StoredDocuments;
  readonly present: DocumentIndex['present'];
  /** Schedules documents to be written again. Throws a message if another process writes them. */
  readonly remake: (documents: readonly StoredKey[]) => Promise<void>;
  /** Where the indices are, and how they are. */
  readonly watch: ClusterWatch;
  /** Returns the state of stale documents. */
  readonly status: () => WriterStatus;
  /** Documents that the index refuses. */
  readonly parked: ParkedDocuments;
  /** Announcement of the leader that purges answers from these documents. */
  readonly purgingLeader: PurgingLeaderStore;
  /** Returns the position that searches show, also in embedded copies, as far as this process knows. */
  readonly shown: () => bigint;
  /** Returns the content types whose indices somebody else has changed, as this process knows them now. */
  readonly faults: () => Promise<readonly IndexFault[]>;
  /** Returns the number of changes of documents without an event, which no tags name. A change counts when searches show it. */
  readonly repairs: () => number;
};

/** Returns the content of an index that has documents. */
export function documentsOf({ contents }: Pick<ReadSide, 'contents'>) {
  const found = contents();
  return found.kind === 'documents' ? found : undefined;
}

/** The indices outside the process that a read side opens. `live`: searches use them. `other`: searches do not use them. */
export type ServedIndices =
  /** `isRestored`: this process had applied a history that the log has lost, because an older copy of it was restored. */
  | { readonly kind: 'live'; readonly isRestored?: boolean }
  | { readonly kind: 'other'; readonly set: IndexSet }
  /** The set becomes live when this process becomes leader. Before that it is only written. */
  | {
      readonly kind: 'next';
      readonly set: IndexSet;
      /** Marks documents that the live generation has not written as stale. Called when no process writes that generation any more. */
      readonly inherit: () => Promise<void>;
      /** Switches searches to the set, in the epoch of the lease. Rejects with a message if another process has become leader. */
      readonly switch: (epoch: number) => Promise<EarlierIndices | undefined>;
    };

/** A kind of read side: what it needs from the graph, and how it is opened after the graph has caught up with the log. */
export type ReadSidePlan = {
  readonly graph: GraphFileOptions;
  /** Reads can be answered when its `lead` or its `standBy` has resolved. */
  open(graph: ContentGraph, log: EventStore, indices: ServedIndices): Promise<ReadSide>;
  /** Present if indices are outside the process. */
  readonly outside?: OutsideIndices;
};
