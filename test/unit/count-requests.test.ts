import { expect, it } from 'vitest';
import { createSharedCounts } from '../../services/supervisor/count-requests.ts';

it('counts each key within its window, and begins again after it', () => {
  let now = 0;
  const counts = createSharedCounts(() => now);
  expect(counts.add('a', 100)).toEqual({ current: 1, ttl: 100 });
  now = 60;
  expect(counts.add('a', 100)).toEqual({ current: 2, ttl: 40 });
  expect(counts.add('b', 100)).toEqual({ current: 1, ttl: 100 });
  now = 100;
  expect(counts.add('a', 100)).toEqual({ current: 1, ttl: 100 });
  expect(counts.add('b', 100)).toEqual({ current: 2, ttl: 60 });
});

it('forgets the keys that were counted longest ago', () => {
  const counts = createSharedCounts(() => 0);
  counts.add('first', 100);
  for (let key = 0; key < 4_998; key++) counts.add(`key ${key}`, 100);
  expect(counts.add('first', 100).current).toBe(2);
  counts.add('one', 100);
  counts.add('two', 100);
  expect(counts.add('first', 100).current).toBe(3);
  expect(counts.add('key 0', 100).current).toBe(1);
});
