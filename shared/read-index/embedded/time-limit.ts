import { QueryTooExpensive } from '../query-too-expensive.ts';
import type { AnswerScope } from '../read-index.ts';

/** Bounds the work on an answer: all its searches and follows together, without what they wait for. */
type TimeLimit = <Result>(answer: AnswerScope | undefined, work: () => Result) => Result;

/**
 * The end of the evaluation under way. There is one at most in a process, as evaluation is synchronous: a variable of the
 * module costs loops over millions of rows less than one more parameter in each of them.
 */
let endsAt = Number.POSITIVE_INFINITY;
let stepsLeft = 0;
let tooExpensive: (() => QueryTooExpensive) | undefined;

/** Steps, of some nanoseconds to a microsecond each, between two looks at the clock: it costs more than many a query's part. */
const STEPS = 2_000;
/** As much as this many steps counts a part of a query, which takes a microsecond to some milliseconds. */
export const PART = 400;

/** Evaluations end with QueryTooExpensive once an answer took so long. Infinity: never. */
export function createTimeLimit(milliseconds: number): TimeLimit {
  const refusal = () => new QueryTooExpensive(milliseconds);
  if (milliseconds === Number.POSITIVE_INFINITY) return (_answer, work) => work();
  const spent = new WeakMap<AnswerScope, number>();
  return (answer, work) => {
    const before = (answer && spent.get(answer)) ?? 0;
    if (before >= milliseconds) throw refusal();
    const start = performance.now();
    endsAt = start + milliseconds - before;
    stepsLeft = STEPS;
    tooExpensive = refusal;
    try {
      return work();
    } finally {
      tooExpensive = undefined;
      if (answer !== undefined) spent.set(answer, before + performance.now() - start);
    }
  };
}

/**
 * Called all along an evaluation, with about how many steps were or will be made until the next call. Ends the evaluation when
 * its time is over: what that is thrown through must leave nothing half done in the index.
 */
export function spend(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft > 0) return;
  stepsLeft = STEPS;
  if (tooExpensive !== undefined && performance.now() >= endsAt) throw tooExpensive();
}
