/** Times in milliseconds. */
export const ANSWERING_LIMITS = {
  /** A process reports itself this often. The leader reads all reports twice as often. */
  reportEveryMs: 500,
  /** If the last acknowledged report is older, caches may not keep answers of the process. */
  longestSilenceMs: 2_000,
  /** The leader waits for a silent process. This is longer than `longestSilenceMs`, because the process's clock may be slower. */
  waitedForMs: 2_500,
  /** The leader removes the report of a process that was silent for so long. */
  forgottenAfterMs: 600_000,
  /** While the log has changes that a process does not show, it reads its position this often, and reports progress. */
  hurryMs: 50,
  /** Minimum time between two reads of all processes together. With many processes each of them reads less often. */
  hurryTogetherMs: 2.5,
  /** A process stops hurrying after this time without progress. */
  hurryForMs: 60_000,
  /** While a purge waits for processes, the leader reads their reports this often. */
  readMs: 25,
  /** The leader pauses this long for each report that it reads again. */
  readEachMs: 1,
};
export type AnsweringLimits = Readonly<typeof ANSWERING_LIMITS>;
