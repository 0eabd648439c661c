import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { StaleDocuments } from '../../projections/graph/stale/stale-documents.ts';
import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { HistoryProgress } from './progress-in-history.ts';
import type { Report } from './report.ts';

/**
 * Role of a process for the documents in Elasticsearch: it writes them, or another process does. The role lasts until
 * `stop`.
 */
export type DocumentRole = {
  /** Resolves with true when reads can be answered; with false if the role ends before, or belongs to another process. */
  readonly ready: Promise<boolean>;
  /** Reports that the graph has changed. */
  wake(): void;
  /** Resolves when reads of this process show a write. Never resolves if the role ends before. */
  visible(position: bigint): Promise<void>;
  /** Resolves with true when searches show `position`; with false after `timeoutMs`, or if the role ends before. */
  shows(position: bigint, timeoutMs: number): Promise<boolean>;
  /** Returns the newest position that searches are known to show. */
  shown(): bigint;
  /** Called when documents have been marked as stale without an event. */
  repairing(): void;
  /** Returns the number of documents written in this role. */
  written(): number;
  /** True if operators' decisions about parked documents take effect here. */
  readonly writes: boolean;
  /** Abandons requests in flight. */
  stop(): void;
  /** Progress that other processes see; for a process that writes. */
  readonly announcing: Announcing;
  /** Waits for requests in flight. */
  close(): Promise<void>;
  /** Rejects when the graph cannot be read. Resolves when the role has ended and no request is in flight. */
  readonly ended: Promise<void>;
};

/** Publishing of progress. Only the live generation's progress is published. */
export type Announcing = {
  /** Begins to publish when searches find these documents. */
  start(): void;
  /** Stops publishing. Resolves with the last published position; 0n if there is none. */
  stop(): Promise<bigint>;
};

/** Role before the first one: this process does not know the writer or its progress. */
export const NO_DOCUMENTS: DocumentRole = Object.freeze({
  ready: Promise.resolve(false),
  writes: false,
  wake: () => {},
  visible: () => Promise.withResolvers<void>().promise,
  shows: async () => false,
  shown: () => 0n,
  repairing: () => {},
  written: () => 0,
  announcing: Object.freeze({ start: () => {}, stop: async () => 0n }),
  stop: () => {},
  close: async () => {},
  ended: Promise.resolve(),
});

export type DocumentRoleOptions = {
  readonly cluster: ElasticsearchCluster;
  readonly graph: ContentGraph;
  readonly stale: StaleDocuments;
  /** Identity of the log. */
  readonly log: string;
  /** Progress that the leader publishes. */
  readonly progress: HistoryProgress;
  readonly report: Report;
  /** Makes sure that the indices belong to this log. Returns a message if they belong to another. */
  readonly own: () => Promise<string | undefined>;
  /** Returns whether the log has no claim newer than this epoch. */
  readonly isNewest: (epoch: number) => Promise<boolean>;
  /** True if an earlier role answered reads: then the indices are known to be complete. */
  readonly isWhole: boolean;
};
