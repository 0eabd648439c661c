import { expect, it, vi } from 'vitest';
import { createLogHead } from '../../services/stores/log-head.ts';

it('reads the end of the log at intervals for all requests, after the request', async () => {
  vi.useFakeTimers();
  try {
    let last = 5n;
    let reads = 0;
    const lastPosition = async () => {
      reads += 1;
      return last;
    };
    const head = createLogHead({ lastPosition }, 100);
    expect(await Promise.all([head.reaches(6n), head.reaches(7n)])).toEqual([5n, 5n]);
    expect(reads).toBe(1);
    // A position that the head has already reached needs no read.
    expect(await head.reaches(5n)).toBe(5n);
    expect(reads).toBe(1);

    const asked = Array.from({ length: 1_000 }, () => head.reaches(6n));
    last = 6n;
    await vi.advanceTimersByTimeAsync(99);
    expect(reads).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(new Set(await Promise.all(asked))).toEqual(new Set([6n]));
    expect(reads).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

it('reads again after a failed read', async () => {
  let fails = true;
  const lastPosition = async () => {
    if (fails) throw new Error('the log is away');
    return 3n;
  };
  const head = createLogHead({ lastPosition }, 1);
  await expect(head.reaches(1n)).rejects.toThrow('the log is away');
  fails = false;
  expect(await head.reaches(1n)).toBe(3n);
});
