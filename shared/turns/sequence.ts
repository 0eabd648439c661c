import { PART, rest } from './slice.ts';
import type { TurnStep } from './turns.ts';

/** Runs steps one after the other. Returns their results. If a call ends with its slice, the next call continues. */
export function createSequence<Result>(steps: readonly TurnStep<Result>[]): TurnStep<readonly Result[]> {
  const results: Result[] = [];
  return () => {
    while (results.length < steps.length) {
      results.push((steps[results.length] as TurnStep<Result>)());
      rest(PART);
    }
    return results;
  };
}
