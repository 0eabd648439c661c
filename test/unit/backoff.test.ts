import { expect, it } from 'vitest';
import { backoffMs, jittered } from '../../shared/backoff.ts';

it('doubles from the first wait, up to the longest', () => {
  const backoff = { firstMs: 100, longestMs: 1_000 };
  expect([1, 2, 3, 4, 5, 2_000].map((failures) => backoffMs(failures, backoff))).toEqual([
    100, 200, 400, 800, 1_000, 1_000,
  ]);
});

it('shortens a wait by up to half', () => {
  expect([0, 0.5, 1].map((random) => jittered(800, random))).toEqual([800, 600, 400]);
});
