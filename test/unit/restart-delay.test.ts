import { expect, it } from 'vitest';
import { restartDelay } from '../../services/supervisor/restart-delay.ts';

it('starts the next process at once after one crash, and after short pauses after several', () => {
  expect([1, 2, 3, 4, 5].map(restartDelay)).toEqual([0, 50, 100, 200, 200]);
  expect(restartDelay(1_000)).toBe(200);
});
