import { describe, expect, it } from 'vitest';
import { pairedMedian } from '../bench/paired-ratios.ts';

describe('median of paired ratios', () => {
  it('is between the second smallest and the second largest of nine, with 96 %', () => {
    const result = pairedMedian([1.09, 1.01, 1.08, 1.02, 1.07, 1.03, 1.06, 1.04, 1.05]);
    expect(result).toMatchObject({ median: 1.05, low: 1.02, high: 1.08 });
    expect(result.confidence).toBeCloseTo(1 - 2 * (10 / 512), 10);
  });

  it('is not changed by one disturbed pair', () => {
    const quiet = [0.99, 1, 1, 1.01, 1, 0.99, 1.01, 1];
    expect(pairedMedian([...quiet, 0.2])).toMatchObject({ median: 1, low: 0.99 });
  });

  it('shows the uncertainty of few pairs', () => {
    expect(pairedMedian([1, 2, 3])).toEqual({ median: 2, low: 1, high: 3, confidence: 0.75 });
  });

  it('narrows with more pairs', () => {
    const ratios = Array.from({ length: 21 }, (_, i) => 1 + i / 100);
    expect(pairedMedian(ratios)).toMatchObject({ low: 1.05, high: 1.15 });
  });
});
