/** Health of the indices outside the process that a process reads. */
export type ClusterHealth = {
  /** As Elasticsearch says: `yellow` without some replicas, `red` without some documents. */
  readonly status: 'green' | 'yellow' | 'red';
  readonly nodes: number;
  readonly unassignedShards: number;
  /** Names under which searches find no index. */
  readonly missing: readonly string[];
  /** Names under which searches find an index without some documents. */
  readonly red: readonly string[];
  /** False if no search finds an index with all documents. */
  readonly hasWhole: boolean;
};

/** Indices outside the process: where they are, and how they are. */
export type ClusterWatch = {
  /** Address without credentials. */
  readonly address: string;
  /** Rejects if they cannot be reached. */
  health(): Promise<ClusterHealth>;
};
