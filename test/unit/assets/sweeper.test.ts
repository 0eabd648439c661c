import { expect, it, onTestFinished, vi } from 'vitest';
import { createSweeper } from '../../../services/assets/sweeper.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

it('removes content that was suspected a day ago, during an upload an hour after the last sweep', async () => {
  const clock = vi.spyOn(Date, 'now');
  onTestFinished(() => clock.mockRestore());
  const swept: number[] = [];
  const uploaded = createSweeper(async (before) => {
    swept.push(before);
    throw new Error('the store does not answer');
  });
  for (const now of [DAY_MS, DAY_MS + HOUR_MS - 1, DAY_MS + HOUR_MS]) {
    clock.mockReturnValue(now);
    uploaded();
  }
  expect(swept).toEqual([0, HOUR_MS]);
});
