/** Times in milliseconds. */
export type AnsweringLimits = {
  /** A process reports itself this often. The leader reads all reports twice as often. */
  readonly reportEveryMs: number;
  /** A process whose last acknowledged report is older lets caches keep nothing. */
  readonly longestSilenceMs: number;
  /** The leader waits for a silent process longer than that: its clock may be slower. */
  readonly waitedForMs: number;
  /** The leader removes the report of a process that was silent for so long. */
  readonly forgottenAfterMs: number;
  /** While the log has changes that a process does not show, it looks this often, and reports that it shows more. */
  readonly hurryMs: number;
  /** With many processes each looks less often: together they look once in this time at most. */
  readonly hurryTogetherMs: number;
  /** A process stops hurrying when it has shown nothing more for so long. */
  readonly hurryForMs: number;
  /** While a purge waits for processes, the leader reads their reports this often. */
  readonly readMs: number;
  /** Pause of the leader for each report that it reads again. */
  readonly readEachMs: number;
};

export const ANSWERING_LIMITS: AnsweringLimits = {
  reportEveryMs: 500,
  longestSilenceMs: 2_000,
  waitedForMs: 2_500,
  forgottenAfterMs: 600_000,
  hurryMs: 50,
  hurryTogetherMs: 2.5,
  hurryForMs: 60_000,
  readMs: 25,
  readEachMs: 1,
};
