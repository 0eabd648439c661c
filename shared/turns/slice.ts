/**
 * Thrown when a slice of work ends. It is not an error: the work is called again in its next slice and continues from its saved state. Code
 * that it passes through must leave its state consistent.
 */
export const SLICE_OVER: Error = Object.freeze(new Error('this slice of work is over'));

export type Slice = {
  readonly now: () => number;
  /** Steps between two reads of the clock. Reading it costs more than many parts of a query. */
  readonly steps: number;
  /** Time at which the slice ends for work that saves its state (`rest`). */
  readonly restsAt: number;
  /** Time at which the slice ends for work inside a piece (`halt`): the piece runs again from its start. */
  readonly haltsAt: number;
  /** Time at which work ends for good, with the error of `refusal`. */
  readonly refusesAt: number;
  readonly refusal: () => Error;
};

/** Steps outside of any slice. It is a small integer, because V8 would allocate memory for a larger number at every step. */
const NEVER = 2 ** 30 - 1;

/**
 * The current slice. A process has at most one, because work in a slice is synchronous. A variable of the module costs loops over millions
 * of rows less than one more parameter in each of them.
 */
let current: Slice | undefined;
let stepsLeft = NEVER;

/** Steps to count for a part of a query, which takes from a microsecond to some milliseconds. */
export const PART = 400;

/** Runs work until the slice ends: then one of the three functions below throws. */
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

/**
 * Counts work. Call it regularly, with the approximate number of steps until the next call, an integer. A step takes from some nanoseconds
 * to a microsecond. Ends work that takes too long for good.
 */
export function countSteps(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft <= 0) look(Number.POSITIVE_INFINITY);
}

/** Counts work that can be continued; may throw SLICE_OVER. Call it after each piece, so that every slice completes at least one. */
export function rest(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft <= 0) look(current?.restsAt ?? Number.POSITIVE_INFINITY);
}

/** Counts work inside a piece, which is lost if the slice ends. Throws SLICE_OVER only if the piece alone takes too long. */
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
