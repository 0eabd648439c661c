import { expect, test } from 'vitest';
import type { EventRow } from '../../shared/event-store/event-codec.ts';
import { createRecentEvents } from '../../shared/event-store/sqlite/recent-events.ts';

const row = (position: number, data = '{}'): EventRow => [BigInt(position), 's', 0n, 'id', 't', data, '{}'];
const rows = (from: number, to: number, data?: string) =>
  Array.from({ length: to - from + 1 }, (_, n) => row(from + n, data));
const numbers = (found: readonly EventRow[]) => found.map(([position]) => Number(position));

test('keeps every pushed event, and returns them from any position on', () => {
  const recent = createRecentEvents(10n);
  expect([recent.last(), recent.covers(10n), recent.covers(9n)]).toEqual([10n, true, false]);
  recent.push(10n, [row(11), row(14), row(15)]);
  expect(recent.last()).toBe(15n);
  expect(numbers(recent.after(10n, 9))).toEqual([11, 14, 15]);
  expect(numbers(recent.after(12n, 9))).toEqual([14, 15]);
  expect(numbers(recent.after(10n, 2))).toEqual([11, 14]);
  expect(numbers(recent.after(15n, 9))).toEqual([]);
  expect(numbers(recent.after(99n, 9))).toEqual([]);
});

test('forgets everything before events that others have added in between', () => {
  const recent = createRecentEvents(0n);
  recent.push(0n, rows(1, 3));
  recent.push(5n, rows(6, 7));
  expect([recent.covers(3n), recent.covers(5n), recent.last()]).toEqual([false, true, 7n]);
  expect(numbers(recent.after(5n, 9))).toEqual([6, 7]);
  recent.restart(20n);
  expect([recent.covers(7n), recent.covers(20n), recent.last()]).toEqual([false, true, 20n]);
});

test('is bounded in events and in size, and never claims to cover what it dropped', () => {
  const many = createRecentEvents(0n);
  for (let n = 0; n < 100; n += 1) many.push(BigInt(n * 100), rows(n * 100 + 1, n * 100 + 100));
  expect(many.covers(5_000n)).toBe(false);
  const held = numbers(many.after(0n, 10_000));
  expect(held.length).toBeGreaterThan(1_000);
  expect(held.length).toBeLessThanOrEqual(4_096);
  expect(held.at(-1)).toBe(10_000);
  expect(many.covers(BigInt((held[0] ?? 0) - 1))).toBe(true);
  expect(many.covers(BigInt((held[0] ?? 0) - 2))).toBe(false);

  const big = createRecentEvents(0n);
  big.push(0n, rows(1, 40, 'x'.repeat(1_000_000)));
  expect(big.last()).toBe(40n);
  expect(big.after(0n, 100).length).toBeLessThanOrEqual(16);
  const huge = createRecentEvents(0n);
  huge.push(0n, rows(1, 1, 'x'.repeat(20_000_000)));
  expect([huge.last(), huge.covers(0n), huge.covers(1n)]).toEqual([1n, false, true]);
});

test('skips a commit that was read from the log before its writer reported it', () => {
  const recent = createRecentEvents(0n);
  recent.push(0n, rows(1, 2));
  recent.restart(6n);
  recent.push(2n, rows(3, 5));
  expect([recent.last(), recent.covers(5n), recent.covers(6n)]).toEqual([6n, false, true]);
  recent.push(6n, rows(7, 8));
  expect(numbers(recent.after(6n, 9))).toEqual([7, 8]);
});
