import { expect, it } from 'vitest';
import { createClaimPace } from '../../services/fleet/claim-pace.ts';

const MINUTE_MS = 60_000;

it('waits twice as long after each loss of the lease, up to a minute', () => {
  const pace = createClaimPace(() => 0);
  expect([pace.silence(), pace.hasLost()]).toEqual([2_000, false]);
  const waits = Array.from({ length: 7 }, () => {
    pace.lost();
    return pace.silence();
  });
  expect(waits).toEqual([4_000, 8_000, 16_000, 32_000, MINUTE_MS, MINUTE_MS, MINUTE_MS]);
  expect(pace.hasLost()).toBe(true);
});

it('forgives each loss after five minutes', () => {
  let now = 0;
  const pace = createClaimPace(() => now);
  pace.lost();
  now = MINUTE_MS;
  pace.lost();
  now = 5 * MINUTE_MS - 1;
  expect(pace.silence()).toBe(8_000);
  now = 5 * MINUTE_MS;
  expect(pace.silence()).toBe(4_000);
  now = 6 * MINUTE_MS;
  expect([pace.silence(), pace.hasLost()]).toEqual([2_000, false]);
});

it('waits twice as long, and no longer, while others lose the lease again and again', () => {
  let now = 0;
  const pace = createClaimPace(() => now);
  const waits = Array.from({ length: 3 }, () => {
    pace.sawLoss();
    return pace.silence();
  });
  expect([...waits, pace.hasLost()]).toEqual([4_000, 4_000, 4_000, false]);
  pace.lost();
  expect(pace.silence()).toBe(4_000);
  pace.lost();
  expect(pace.silence()).toBe(8_000);
  now = 5 * MINUTE_MS;
  expect(pace.silence()).toBe(2_000);
});
