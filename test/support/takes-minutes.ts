/** Options of a suite or test: skipped with a reason, or not. */
export type SkipOptions = { readonly skip?: true; readonly meta?: { readonly skipReason: string } };

const isLong = process.env['VARVE_LONG_TESTS'] === '1';

/**
 * Options of a suite that takes minutes: `npm test` has to be done in five. Run where VARVE_LONG_TESTS=1, as in `.ci/run`; else
 * skipped, and the end of the output says so.
 */
export function takesMinutes(what: string): SkipOptions {
  if (isLong) return {};
  return { skip: true, meta: { skipReason: `${what}: minutes, VARVE_LONG_TESTS=1 runs them` } };
}

/** Number of rounds, runs or clients of a test that is the same with fewer: `long` where VARVE_LONG_TESTS=1, else `short`. */
export function count(long: number, short: number): number {
  return isLong ? long : short;
}
