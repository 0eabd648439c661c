/** Times in milliseconds. */
export const ANSWERING_LIMITS = {
  /** A process reports itself this often. The leader reads all reports twice as often. */
  reportEveryMs: 500,
  /** A process whose last acknowledged report is older lets caches keep nothing. */
  longestSilenceMs: 2_000,
  /** The leader waits for a silent process longer than that: its clock may be slower. */
  waitedForMs: 2_500,
  /** The leader removes the report of a process that was silent for so long. */
  forgottenAfterMs: 600_000,
  /** While the log has changes that a process does not show, it looks this often, and reports that it shows more. */
  hurryMs: 50,
  /** With many processes each looks less often: together they look once in this time at most. */
  hurryTogetherMs: 2.5,
  /** A process stops hurrying when it has shown nothing more for so long. */
  hurryForMs: 60_000,
  /** While a purge waits for processes, the leader reads their reports this often. */
  readMs: 25,
  /** Pause of the leader for each report that it reads again. */
  readEachMs: 1,
};
export type AnsweringLimits = Readonly<typeof ANSWERING_LIMITS>;
