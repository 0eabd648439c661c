import { describe, expect, it } from 'vitest';
import { createThrottle, FULL_PACE, nextPace, type Pace } from '../../services/rebuild/throttle.ts';

const paceAfter = (delays: readonly number[], from: Pace = FULL_PACE) => delays.reduce(nextPace, from);

describe('a rebuild that is told its rate', () => {
  it('keeps to it however long requests wait', async () => {
    const throttle = createThrottle(1_000_000);
    for (let i = 0; i < 20; i++) throttle.observe(i < 2 ? 1 : 5_000);
    // By its delay it would hold still for a second now.
    let looks = 0;
    await throttle.rest(1, 1_000, () => {
      looks++;
    });
    expect(looks).toBe(1);
  });
});

describe('the pace of a rebuild', () => {
  it('takes the first sample for what the delay was before', () => {
    expect(paceAfter([10])).toEqual({ share: 1, before: 10, crowded: 0 });
  });

  it('stays full while the delay is within a tenth and a millisecond of that', () => {
    expect(paceAfter([10, 11, 12, 11.9]).share).toBe(1);
  });

  it('falls fast when requests wait longer, and comes back slowly', () => {
    const slow = paceAfter([10, 30, 30, 30]);
    expect(slow.share).toBeLessThan(0.25);
    const [one, ten] = [paceAfter([10], slow).share, paceAfter(Array(20).fill(10), slow).share];
    expect(one).toBeGreaterThan(slow.share);
    expect(one).toBeLessThan(0.5);
    expect(ten).toBe(1);
  });

  it('never stops for good: where holding still changes nothing, the load is another one by now', () => {
    const crowded = paceAfter([10, ...Array(8).fill(100)]);
    expect(crowded.share).toBeGreaterThan(0);
    const still = nextPace(crowded, 100);
    expect(still.share).toBe(0);
    const again = nextPace(still, 90);
    expect(again).toMatchObject({ before: 90 });
    expect(again.share).toBeGreaterThan(0);
    expect(paceAfter(Array(20).fill(95), again).share).toBe(1);
  });
});
