import { expect } from 'vitest';
import { isInPart, readPart } from './long-parts.ts';

/** Options of a suite or test: skipped with a reason, or not. */
export type SkipOptions = { readonly skip?: true; readonly meta?: { readonly skipReason: string } };

/**
 * Returns the options of a suite that takes minutes. It runs with VARVE_LONG_TESTS=1. With VARVE_LONG_TESTS=2/8, as in `.ci/run`, it runs if
 * its file is in the second of eight parts. Otherwise it is skipped, since `npm test` must end within five minutes, and the end of the
 * output says so.
 */
export function takesMinutes(what: string): SkipOptions {
  if (isLong()) return {};
  return { skip: true, meta: { skipReason: `${what}: minutes, VARVE_LONG_TESTS=1 runs them` } };
}

/**
 * Returns the options of a suite whose limits of time do not hold on a busy machine. It runs with VARVE_FAULT_TESTS=1, which `.ci/run`
 * sets for a run of the tables of faults alone.
 */
export function needsQuietMachine(what: string): SkipOptions {
  if (process.env['VARVE_FAULT_TESTS'] === '1') return {};
  return {
    skip: true,
    meta: { skipReason: `${what}: needs a quiet machine, VARVE_FAULT_TESTS=1 runs them` },
  };
}

/** Returns the rounds, runs or clients of a test that also works with fewer: `long` where takesMinutes runs suites, else `short`. */
export function count(long: number, short: number): number {
  return isLong() ? long : short;
}

/** Returns whether the run has long tests, of this file or of others: what waits for a moment has to allow for a busy machine. */
export function isLongRun(): boolean {
  return Boolean(process.env['VARVE_LONG_TESTS']);
}

/** Returns whether VARVE_LONG_TESTS asks for the long tests of the file that is loaded or runs now. */
function isLong(): boolean {
  const asked = process.env['VARVE_LONG_TESTS'];
  if (!asked) return false;
  return isInPart(expect.getState().testPath ?? '', readPart(asked));
}
