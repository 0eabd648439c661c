/** Times in milliseconds. */
export type AnsweringLimits = {
  /** A process reports itself this often. The leader reads the reports twice as often. */
  readonly reportEveryMs: number;
  /** A process whose last acknowledged report is older lets caches keep nothing. */
  readonly longestSilenceMs: number;
  /** The leader waits for a silent process longer than that: its clock may be slower. */
  readonly waitedForMs: number;
  /** The leader removes the report of a process that was silent for so long. */
  readonly forgottenAfterMs: number;
};

export const ANSWERING_LIMITS: AnsweringLimits = {
  reportEveryMs: 500,
  longestSilenceMs: 2_000,
  waitedForMs: 2_500,
  forgottenAfterMs: 600_000,
};
