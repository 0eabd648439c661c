import { describe, expect, it } from 'vitest';
import { rateShop } from '../../support/searched-shop.ts';

describe('words that are looked for by their parts', () => {
  it.each([
    ['de', 'german-shop.txt', 130],
    ['nl', 'dutch-shop.txt', 35],
    ['sv', 'swedish-shop.txt', 30],
    ['da', 'danish-shop.txt', 50],
    ['nb', 'norwegian-shop.txt', 50],
    ['fi', 'finnish-shop.txt', 60],
  ])('are found in %s, and hardly anything else', async (locale, file, queries) => {
    const found = await rateShop(file, locale);
    expect(found.with.queries).toBeGreaterThanOrEqual(queries);
    expect(found.without.recall).toBe(0);
    expect(found.with.recall).toBeGreaterThanOrEqual(0.9);
    expect(found.with.precision).toBeGreaterThanOrEqual(0.95 * found.without.precision);
  });
});
