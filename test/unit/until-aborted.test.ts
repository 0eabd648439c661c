import { getEventListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { untilAborted } from '../../shared/until-aborted.ts';

const never = new Promise<string>(() => {});

it('resolves with the value of the promise', async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(delay(1, 'value'), signal)).toBe('value');
});

it.each(['before', 'after'])('resolves with undefined if the signal is aborted %s the call', async (when) => {
  const aborting = new AbortController();
  if (when === 'before') aborting.abort();
  const waiting = untilAborted(never, aborting.signal);
  aborting.abort();
  expect(await waiting).toBeUndefined();
});

it('rejects if the promise rejects before the signal is aborted', async () => {
  const { signal } = new AbortController();
  await expect(untilAborted(Promise.reject(new Error('lost')), signal)).rejects.toThrow('lost');
});

it('leaves no listener on a signal that is never aborted', async () => {
  const { signal } = new AbortController();
  for (let i = 0; i < 20; i++) await untilAborted(Promise.resolve(i), signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
