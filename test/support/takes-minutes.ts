/** Options of a suite or test: skipped with a reason, or not. */
export type SkipOptions = { readonly skip?: true; readonly meta?: { readonly skipReason: string } };

/**
 * Options of a suite that takes minutes: `npm test` has to be done in five. Run where VARVE_LONG_TESTS=1, as in `.ci/run`; else
 * skipped, and the end of the output says so.
 */
export function takesMinutes(what: string): SkipOptions {
  if (process.env['VARVE_LONG_TESTS'] === '1') return {};
  return { skip: true, meta: { skipReason: `${what}: minutes, VARVE_LONG_TESTS=1 runs them` } };
}
