import { median } from '../conformance/bench/common.mjs';

/** Median of paired ratios, with an interval that contains the true median with `confidence`, for any distribution. */
export type PairedMedian = {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly confidence: number;
};

/** The narrowest interval that reaches this confidence is chosen. Fewer than six pairs reach less. */
const WANTED_CONFIDENCE = 0.95;

/** Returns the median with the interval from the k-th smallest to the k-th largest ratio. A ratio exceeds the true median half the time. */
export function pairedMedian(ratios: readonly number[]): PairedMedian {
  const sorted = ratios.toSorted((a, b) => a - b);
  const count = sorted.length;
  let rank = 1;
  while (rank * 2 < count && confidenceOf(count, rank + 1) >= WANTED_CONFIDENCE) rank++;
  return {
    median: median(ratios),
    low: sorted[rank - 1] ?? Number.NaN,
    high: sorted[count - rank] ?? Number.NaN,
    confidence: confidenceOf(count, rank),
  };
}

/** Returns the probability that at least `rank` of `count` values are on each side of the median. */
function confidenceOf(count: number, rank: number): number {
  let tail = 0;
  let ways = 1;
  for (let below = 0; below < rank; below++) {
    tail += ways / 2 ** count;
    ways = (ways * (count - below)) / (below + 1);
  }
  return 1 - 2 * tail;
}
