/** Report of a process that answers reads, for the leader, which purges caches. */
export type AnsweringReport = {
  /** Another one after a restart. */
  readonly process: string;
  /** Counts the reports of the process. */
  readonly beat: number;
  /** Its reads show everything up to this position. */
  readonly position: bigint;
  /** Names everything besides content that shapes its answers. */
  readonly shape: string;
  /** A leader has acknowledged an earlier report of the process. */
  readonly isAcknowledged: boolean;
};

/** The newest beat of each process that the leader of an epoch waits for before it purges. */
export type AwaitedProcesses = { readonly epoch: number; readonly beats: ReadonlyMap<string, number> };

/** Most processes whose reports are read. Those that come later are never acknowledged, and let caches keep nothing. */
export const MOST_ANSWERING = 1_000;

/** Reports of processes that answer reads, where all processes of a log see them. A call rejects while that is unreachable. */
export type AnsweringProcesses = {
  report(report: AnsweringReport): Promise<void>;
  /** Reports of processes that were not removed, up to MOST_ANSWERING. Those of the last second may be missing. */
  reports(): Promise<readonly AnsweringReport[]>;
  /** The newest reports of these processes, at most MOST_ANSWERING. */
  reportsOf(processes: readonly string[]): Promise<readonly AnsweringReport[]>;
  remove(process: string): Promise<void>;
  /** Says for which processes purges wait. Has no effect after the leader of a later epoch said so. */
  await(awaited: AwaitedProcesses): Promise<void>;
  /** undefined: no leader has said so yet. */
  awaited(): Promise<AwaitedProcesses | undefined>;
};
