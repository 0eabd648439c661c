import { expect, it, vi } from 'vitest';
import { createCondition } from '../../shared/condition.ts';

it('resolves at once if the condition holds, else when it does', async () => {
  let position = 5n;
  const condition = createCondition();
  expect(await condition.until(() => position >= 5n)).toBe(true);
  const passed: bigint[] = [];
  const waits = [7n, 6n, 8n].map((wanted) =>
    condition.until(() => wanted <= position).then(() => passed.push(wanted)),
  );
  position = 7n;
  condition.check();
  await Promise.all(waits.slice(0, 2));
  expect(passed.sort()).toEqual([6n, 7n]);
  position = 8n;
  condition.check();
  await Promise.all(waits);
});

it('resolves to false after the time limit, and forgets the caller', async () => {
  vi.useFakeTimers();
  try {
    let position = 0n;
    const condition = createCondition();
    const isReached = () => position >= 1n;
    const early = condition.until(isReached, 100);
    const late = condition.until(isReached, 200);
    await vi.advanceTimersByTimeAsync(100);
    expect(await early).toBe(false);
    position = 1n;
    condition.check();
    expect(await late).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

it('after a failure rejects all waits, but not for a condition that holds', async () => {
  let position = 0n;
  const condition = createCondition();
  const waiting = condition.until(() => position >= 1n);
  condition.fail(new Error('the projector was closed'));
  condition.fail(new Error('a later reason'));
  await expect(waiting).rejects.toThrow('the projector was closed');
  await expect(condition.until(() => position >= 1n)).rejects.toThrow('the projector was closed');
  position = 1n;
  expect(await condition.until(() => position >= 1n)).toBe(true);
});
