/** Saturation of repeated words, and how much a text's length counts. Chosen by `npm run bench:relevance`. */
export const K1 = 2;
export const B = 0.75;

/** Weight of a term that `matching` of `rows` rows have: Lucene's formula. */
export function inverseFrequency(rows: number, matching: number): number {
  return Math.log(1 + (rows - matching + 0.5) / (matching + 0.5));
}

/** The part of one attribute in a term's frequency (BM25F). */
export function weightedFrequency(
  frequency: number,
  weight: number,
  length: number,
  average: number,
): number {
  return (weight * frequency) / (1 - B + B * (average === 0 ? 1 : length / average));
}

/** A term's score in a row, of its frequency in all attributes. */
export function scoreTerm(frequency: number, worth: number): number {
  return (worth * (K1 + 1) * frequency) / (K1 + frequency);
}
