import { afterEach, expect, it, vi } from 'vitest';
import { createRequestPace } from '../../../services/follow/reconcile.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('does not wait for a clock that was set back', async () => {
  const pace = createRequestPace(1000, new AbortController().signal);
  await pace();
  const back = Date.now() - 3_600_000;
  vi.spyOn(Date, 'now').mockReturnValue(back);
  await pace();
  await pace();
  expect(Date.now()).toBe(back);
});

it('ends when its signal is aborted', async () => {
  const closing = new AbortController();
  const pace = createRequestPace(0.001, closing.signal);
  const waiting = pace();
  closing.abort();
  await waiting;
  expect(closing.signal.aborted).toBe(true);
});
