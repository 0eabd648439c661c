import { median } from '../conformance/bench/common.mjs';

/** Median of paired ratios, with an interval that holds the true median with `confidence`, whatever the distribution. */
export type PairedMedian = {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly confidence: number;
};

/** The narrowest order statistics that reach it are taken; fewer than six pairs reach less. */
const WANTED_CONFIDENCE = 0.95;

/** The interval is between the k-th smallest and the k-th largest ratio: each is above the true median with probability 1/2. */
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

/** The probability that at least `rank` of `count` fall on each side of the median. */
function confidenceOf(count: number, rank: number): number {
  let tail = 0;
  let ways = 1;
  for (let below = 0; below < rank; below++) {
    tail += ways / 2 ** count;
    ways = (ways * (count - below)) / (below + 1);
  }
  return 1 - 2 * tail;
}
