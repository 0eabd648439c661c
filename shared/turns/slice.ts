/**
 * Thrown where a slice of work ends. No error: the work is called again in its next slice, and goes on from what it has kept.
 * What it is thrown through must leave nothing half done.
 */
export const SLICE_OVER: Error = Object.freeze(new Error('this slice of work is over'));

export type Slice = {
  readonly now: () => number;
  /** Steps between two looks at the clock, which costs more than many a query's part. */
  readonly steps: number;
  /** When work ends that keeps what it has done, */
  readonly restsAt: number;
  /** when work ends that is done otherwise or again, */
  readonly haltsAt: number;
  /** and when work ends for good, */
  readonly refusesAt: number;
  /** with this error. */
  readonly refusal: () => Error;
};

/** Steps outside of any slice. Small integers all along: other numbers would be allocated with every step. */
const NEVER = 2 ** 30 - 1;

/**
 * The slice under way. There is one at most in a process, as work in a slice is synchronous: a variable of the module costs
 * loops over millions of rows less than one more parameter in each of them.
 */
let current: Slice | undefined;
let stepsLeft = NEVER;

/** As much as this many steps counts a part of a query, which takes a microsecond to some milliseconds. */
export const PART = 400;

/** Does work that ends, by an exception of one of the three below, when the slice does. */
export function inSlice<Result>(slice: Slice, work: () => Result): Result {
  const [outer, outerSteps] = [current, stepsLeft];
  current = slice;
  stepsLeft = slice.steps;
  try {
    return work();
  } finally {
    current = outer;
    stepsLeft = outerSteps;
  }
}

/** Called all along work, with about how many steps, a whole number, of some nanoseconds to a microsecond each, come until the next call. Ends what takes too long for good. */
export function spend(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft <= 0) look(Number.POSITIVE_INFINITY);
}

/** The same, where the work can be gone on with: may throw SLICE_OVER. Called behind a piece of it, so that every slice does one. */
export function rest(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft <= 0) look(current?.restsAt ?? Number.POSITIVE_INFINITY);
}

/** The same inside a piece that is lost when the slice ends: throws SLICE_OVER when the piece alone takes too long. */
export function halt(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft <= 0) look(current?.haltsAt ?? Number.POSITIVE_INFINITY);
}

function look(endsAt: number): void {
  if (current === undefined) {
    stepsLeft = NEVER;
    return;
  }
  stepsLeft = current.steps;
  const now = current.now();
  if (now >= current.refusesAt) throw current.refusal();
  if (now >= endsAt) throw SLICE_OVER;
}
