import { describe, expect, it } from 'vitest';
import { createThrottle, FULL_PACE, nextPace, type Pace } from '../../services/rebuild/throttle.ts';

const asked = (delayMs: number) => ({ delayMs, isAsked: true });
const paceAfter = (delays: readonly number[], from: Pace = FULL_PACE) =>
  delays.map(asked).reduce(nextPace, from);

describe('a rebuild with --max-rate', () => {
  it('keeps that rate, also when requests wait long', async () => {
    const throttle = createThrottle(1_000_000);
    for (let i = 0; i < 20; i++) throttle.observe(asked(i < 2 ? 1 : 5_000));
    // The delay of requests alone would cause a pause of seconds now.
    let looks = 0;
    await throttle.rest(1, 1_000, () => {
      looks++;
    });
    expect(looks).toBe(1);
    expect(throttle.isSparing).toBe(false);
  });
});

describe('the pace of a rebuild', () => {
  it('uses the first sample as the delay without a rebuild, and begins slowly', () => {
    expect(FULL_PACE.share).toBe(1);
    expect(paceAfter([10])).toMatchObject({ before: 10, crowded: 0 });
    expect(paceAfter([10]).share).toBeLessThan(0.5);
  });

  it('is full after four seconds while the delay stays within a tenth and a quarter of a millisecond of that, and remains so', () => {
    expect(paceAfter([10, ...Array(8).fill(11.2)]).share).toBe(1);
    expect(paceAfter([10, ...Array(50).fill(11.2)]).share).toBe(1);
    expect(paceAfter([10, 11.3]).share).toBeLessThan(paceAfter([10]).share);
  });

  it('ignores timers that are a millisecond late while there are no requests', () => {
    const late = { delayMs: 3, isAsked: false };
    expect([{ delayMs: 2, isAsked: false }, ...Array(8).fill(late)].reduce(nextPace, FULL_PACE).share).toBe(
      1,
    );
  });

  it('is at least 30 % while there are no requests, also when timers are late', () => {
    const late = Array.from({ length: 6 }, (_, n) => ({ delayMs: n % 2 === 0 ? 2 : 40, isAsked: false }));
    for (let n = 1; n <= late.length; n++)
      expect(late.slice(0, n).reduce(nextPace, FULL_PACE).share).toBeGreaterThanOrEqual(0.3);
    expect(paceAfter([2, 40, 2, 40]).share).toBeLessThan(0.3);
  });

  it('falls fast when requests wait longer, and rises slowly', () => {
    const slow = paceAfter([10, 30, 30, 30]);
    expect(slow.share).toBeLessThan(0.25);
    const [one, ten] = [paceAfter([10], slow).share, paceAfter(Array(20).fill(10), slow).share];
    expect(one).toBeGreaterThan(slow.share);
    expect(one).toBeLessThan(0.5);
    expect(ten).toBe(1);
  });

  it('never stops permanently: if a pause does not help, it takes the current load as normal', () => {
    const crowded = paceAfter([10, ...Array(8).fill(100)]);
    expect(crowded.share).toBeGreaterThan(0);
    const still = nextPace(crowded, asked(100));
    expect(still.share).toBe(0);
    // Four samples may contain requests that waited for the rebuild.
    const stillThen = paceAfter([100, 99, 97, 95], still);
    expect(stillThen).toMatchObject({ share: 0, before: 10 });
    const again = nextPace(stillThen, asked(90));
    expect(again).toMatchObject({ before: 90 });
    expect(again.share).toBeGreaterThan(0);
    expect(paceAfter(Array(20).fill(95), again).share).toBe(1);
  });
});
