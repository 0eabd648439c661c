import { expect, it, vi } from 'vitest';
import { createPositionGate } from '../../shared/position-gate.ts';

it('lets through whoever asks for what is reached, and everyone else when it is', async () => {
  let position = 5n;
  const gate = createPositionGate(() => position);
  expect(await gate.reached(5n)).toBe(true);
  const passed: bigint[] = [];
  const waits = [7n, 6n, 8n].map((wanted) => gate.reached(wanted).then(() => passed.push(wanted)));
  position = 7n;
  gate.advanced();
  await Promise.all(waits.slice(0, 2));
  expect(passed.sort()).toEqual([6n, 7n]);
  position = 8n;
  gate.advanced();
  await Promise.all(waits);
});

it('turns away whose time is over, and does not hear of them again', async () => {
  vi.useFakeTimers();
  try {
    let position = 0n;
    const gate = createPositionGate(() => position);
    const early = gate.reached(1n, 100);
    const late = gate.reached(1n, 200);
    await vi.advanceTimersByTimeAsync(100);
    expect(await early).toBe(false);
    position = 1n;
    gate.advanced();
    expect(await late).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
