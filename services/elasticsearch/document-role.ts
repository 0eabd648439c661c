import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { StaleDocuments } from '../../projections/graph/stale/stale-documents.ts';
import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { Report } from './report.ts';

/**
 * Role of a process for the documents in Elasticsearch: it writes them, or another process does. From its start until
 * `stop`.
 */
export type DocumentRole = {
  /** Resolves with true when reads can be answered; with false when the role has ended before, or is another process's. */
  readonly ready: Promise<boolean>;
  /** The graph has changed. */
  wake(): void;
  /** Resolves when reads of this process show a write. Never resolves if the role ends before. */
  visible(position: bigint): Promise<void>;
  /** Resolves with false after `timeoutMs`, and if the role ends before. */
  shows(position: bigint, timeoutMs: number): Promise<boolean>;
  /** Position that searches show, as far as it is known here. */
  shown(): bigint;
  /** Reads that if another process writes. Rejects when it cannot be read. */
  look(): Promise<void>;
  /** No tags are noted from now on, until the result is called and searches show what was marked as stale before. */
  ceaseTags(): Promise<() => void>;
  /** Documents written in this role. */
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

/** Only the live generation's progress is published. */
export type Announcing = {
  /** Begins, once searches find these documents. */
  start(): void;
  /** Resolves when nothing is announced any more, to the last announced position; 0n: none. */
  stop(): Promise<bigint>;
};

/** Before the first role: this process does not know the writer or its progress. */
export const NO_DOCUMENTS: DocumentRole = Object.freeze({
  ready: Promise.resolve(false),
  writes: false,
  wake: () => {},
  visible: () => Promise.withResolvers<void>().promise,
  shows: async () => false,
  shown: () => 0n,
  look: async () => {},
  ceaseTags: async () => () => {},
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
  /** Names the log. */
  readonly log: string;
  /** Position of the end of the log. */
  readonly end: () => Promise<bigint>;
  readonly report: Report;
  /** Makes sure that the indices belong to this log. Returns a message if they belong to another. */
  readonly own: () => Promise<string | undefined>;
  /** Returns whether the log has no claim newer than this epoch. */
  readonly isNewest: (epoch: number) => Promise<boolean>;
  /** Reads were answered in an earlier role: nothing has to be asked of the cluster first. */
  readonly isWhole: boolean;
};
