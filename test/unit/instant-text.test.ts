import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dateText, timeText } from '../../shared/read-index/instant-text.ts';

const DAY = 86_400_000;
/** Instants of the years 0 to 9999. */
const instants = fc.integer({ min: Date.parse('0000-01-01'), max: Date.parse('9999-12-31') + DAY - 1 });

it('dates and times are the ISO text of JavaScript, without trailing zeros of the fraction', () => {
  const property = fc.property(instants, (milliseconds) => {
    const iso = new Date(milliseconds).toISOString();
    expect(dateText(milliseconds)).toBe(iso.slice(0, 10));
    expect(timeText(milliseconds)).toBe(iso.slice(11, -1).replace(/\.?0+$/, ''));
  });
  fc.assert(property, { numRuns: 3000 });
});

it('a time has no fraction at a whole second, and restarts at midnight', () => {
  expect(timeText(8.5 * 3_600_000)).toBe('08:30:00');
  expect(timeText(500)).toBe('00:00:00.5');
  expect(timeText(70)).toBe('00:00:00.07');
  expect(timeText(DAY)).toBe('00:00:00');
});
