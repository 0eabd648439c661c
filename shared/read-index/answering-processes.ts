/** Report of a process that answers reads. The leader needs it to purge caches. */
export type AnsweringReport = {
  /** Name of the process. It changes with each restart. */
  readonly process: string;
  /** Number of the report within the process. */
  readonly beat: number;
  /** Position up to which the process's reads show every change. */
  readonly position: bigint;
  /** Digest of everything besides content that affects its answers. */
  readonly shape: string;
  /** True if a leader has acknowledged an earlier report of the process. */
  readonly isAcknowledged: boolean;
};

/** Number of the newest report of each process that the leader of an epoch waits for before it purges. */
export type AwaitedProcesses = { readonly epoch: number; readonly beats: ReadonlyMap<string, number> };

/**
 * Maximum number of processes whose reports are read. Further processes are never acknowledged, and do not allow caches to store answers.
 */
export const MOST_ANSWERING = 1_000;

/** Storage for reports of processes that answer reads. All processes of a log see them. A call rejects while the storage is unreachable. */
export type AnsweringProcesses = {
  report(report: AnsweringReport): Promise<void>;
  /** Returns the reports that were not removed, up to MOST_ANSWERING. Reports of the last second may be missing. */
  reports(): Promise<readonly AnsweringReport[]>;
  /** Returns the newest reports of these processes, at most MOST_ANSWERING. */
  reportsOf(processes: readonly string[]): Promise<readonly AnsweringReport[]>;
  remove(process: string): Promise<void>;
  /** Records the processes that purges wait for. Has no effect after the leader of a later epoch has recorded them. */
  await(awaited: AwaitedProcesses): Promise<void>;
  /** Returns the recorded processes; undefined if no leader has recorded them yet. */
  awaited(): Promise<AwaitedProcesses | undefined>;
};
