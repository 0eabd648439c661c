/** Saturation of repeated words, and influence of a text's length. `npm run bench:relevance` was used to choose both. */
export const K1 = 2;
export const B = 0.75;

/** Returns the weight of a term that `matching` of `rows` rows have, by Lucene's formula. */
export function inverseFrequency(rows: number, matching: number): number {
  return Math.log(1 + (rows - matching + 0.5) / (matching + 0.5));
}

/** Returns the part that one attribute contributes to a term's frequency (BM25F). */
export function weightedFrequency(
  frequency: number,
  weight: number,
  length: number,
  average: number,
): number {
  return (weight * frequency) / (1 - B + B * (average === 0 ? 1 : length / average));
}

/** Returns a term's score in a row, from its frequency in all attributes. */
export function scoreTerm(frequency: number, worth: number): number {
  return (worth * (K1 + 1) * frequency) / (K1 + frequency);
}
