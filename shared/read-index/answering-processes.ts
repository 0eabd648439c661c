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
};

/** The newest beat of each process that the leader of an epoch waits for before it purges. */
export type AwaitedProcesses = { readonly epoch: number; readonly beats: ReadonlyMap<string, number> };

/** Reports of processes that answer reads, where all processes of a log see them. A call rejects while that is unreachable. */
export type AnsweringProcesses = {
  report(report: AnsweringReport): Promise<void>;
  /** The newest report of each process that was not removed. */
  reports(): Promise<readonly AnsweringReport[]>;
  remove(process: string): Promise<void>;
  /** Says for which processes purges wait. Has no effect after the leader of a later epoch said so. */
  await(awaited: AwaitedProcesses): Promise<void>;
  /** undefined: no leader has said so yet. */
  awaited(): Promise<AwaitedProcesses | undefined>;
};
