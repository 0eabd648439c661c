import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { StaleDocuments } from '../../projections/graph/stale/stale-documents.ts';
import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { Report } from './report.ts';

/** What a process does about the documents in Elasticsearch: it writes them, or another does. From its start until `stop`. */
export type DocumentRole = {
  /** Resolves when reads can be answered, or the role has ended. */
  readonly ready: Promise<void>;
  /** The graph has changed. */
  wake(): void;
  visible(position: bigint): Promise<void>;
  shows(position: bigint, timeoutMs: number): Promise<boolean>;
  /** Documents written in this role. */
  written(): number;
  /** Whether an operator's word about refused documents counts here. */
  readonly writes: boolean;
  /** Gives up what is under way. */
  stop(): void;
  /** What other processes are told of how far the documents are; of one that writes. */
  readonly announcing: Announcing;
  /** Waits for what is under way. */
  close(): Promise<void>;
  /** Rejects when the graph cannot be read. Resolves when the role has ended and nothing of it is under way. */
  readonly ended: Promise<void>;
};

/** Of two generations that one process writes, the live one is spoken of to others. */
export type Announcing = {
  /** Begins, once searches find these documents. */
  start(): void;
  /** Resolves when nothing is announced any more, to the last position that was; 0n: none was. */
  stop(): Promise<bigint>;
};

export const NOTHING_TO_ANNOUNCE: Announcing = Object.freeze({ start: () => {}, stop: async () => 0n });

export type DocumentRoleOptions = {
  readonly cluster: ElasticsearchCluster;
  readonly graph: ContentGraph;
  readonly stale: StaleDocuments;
  /** Names the log. */
  readonly log: string;
  readonly report: Report;
  /** Makes sure that the indices are this log's. Answers a sentence when they are another's. */
  readonly own: () => Promise<string | undefined>;
  /** Whether no claim of the lead in the log is newer than this epoch. */
  readonly leads: (epoch: number) => Promise<boolean>;
  /** Reads were answered in an earlier role: nothing has to be asked of the cluster first. */
  readonly isWhole: boolean;
};
