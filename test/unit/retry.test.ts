import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createBounded } from '../../shared/bounded.ts';
import { retry } from '../../shared/retry.ts';
import { valueWithin } from '../../shared/value-within.ts';

const BACKOFF = { firstMs: 1, longestMs: 4 };
const { signal } = new AbortController();

describe('retry', () => {
  it('repeats after growing waits until the work succeeds', async () => {
    const waits: number[] = [];
    let attempts = 0;
    const work = async () => {
      attempts += 1;
      if (attempts < 5) throw new Error('not yet');
      return attempts;
    };
    const failed = (_error: unknown, retryInMs: number) => waits.push(retryInMs);
    expect(await retry(work, { backoff: BACKOFF, signal, failed })).toBe(5);
    expect(waits).toEqual([1, 2, 4, 4]);
  });

  it('shortens a jittered wait by at most half', async () => {
    const failed = vi.fn((_error: unknown, _retryInMs: number) => {});
    const work = vi.fn(async () => 'done').mockRejectedValueOnce(new Error('once'));
    const backoff = { firstMs: 8, longestMs: 8 };
    expect(await retry(work, { backoff, isJittered: true, signal, failed })).toBe('done');
    const [[, wait] = []] = failed.mock.calls;
    expect(wait).toBeGreaterThanOrEqual(4);
    expect(wait).toBeLessThanOrEqual(8);
  });

  it('rejects with what `failed` throws', async () => {
    const refused = new Error('refused');
    const failed = () => {
      throw refused;
    };
    const work = () => Promise.reject(new Error('no'));
    await expect(retry(work, { backoff: BACKOFF, signal, failed })).rejects.toBe(refused);
  });

  it('stops waiting when it is aborted', async () => {
    const ended = new AbortController();
    const backoff = { firstMs: 3_600_000, longestMs: 3_600_000 };
    const failed = () => void setTimeout(() => ended.abort(), 1);
    const work = vi.fn(() => Promise.reject(new Error('no')));
    expect(await retry(work, { backoff, signal: ended.signal, failed })).toBeUndefined();
    expect(work).toHaveBeenCalledTimes(1);
  });
});

describe('valueWithin', () => {
  it('is the value of a promise that resolves in time', async () => {
    expect(await valueWithin(3_600_000, Promise.resolve('value'))).toBe('value');
  });

  it('is undefined after the time limit, also if the promise rejects later', async () => {
    const late = Promise.withResolvers<string>();
    expect(await valueWithin(1, late.promise)).toBeUndefined();
    late.reject(new Error('too late'));
    await delay(1);
  });

  it('rejects if the promise rejects in time', async () => {
    await expect(valueWithin(3_600_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });
});

describe('createBounded', () => {
  it('starts waiting work when earlier work has ended, in the order of the calls', async () => {
    const bounded = createBounded(2);
    const started: number[] = [];
    const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
    const done = ends.map((end, at) =>
      bounded(async () => {
        started.push(at);
        await end.promise;
      }),
    );
    await Promise.resolve();
    expect(started).toEqual([0, 1]);
    ends[1]?.resolve();
    await done[1];
    await expect.poll(() => started).toEqual([0, 1, 2]);
    for (const end of ends) end.resolve();
    await Promise.all(done);
    expect(started).toEqual([0, 1, 2, 3]);
  });

  it('refuses work while too much waits, and starts the next one after a failure', async () => {
    const bounded = createBounded(1, { waiting: 1, refused: () => new Error('full') });
    const end = Promise.withResolvers<void>();
    const first = bounded(() => end.promise);
    const second = bounded(async () => 'second');
    await expect(bounded(async () => 'third')).rejects.toThrow('full');
    end.reject(new Error('failed'));
    await expect(first).rejects.toThrow('failed');
    expect(await second).toBe('second');
    expect(await bounded(async () => 'fourth')).toBe('fourth');
  });

  it('lets callers take turns: one with much work does not delay another', async () => {
    const bounded = createBounded(1);
    const end = Promise.withResolvers<void>();
    const ended: string[] = [];
    const run = (caller: string, name: string) =>
      bounded(async () => {
        await end.promise;
        ended.push(name);
      }, caller);
    const all = Array.from({ length: 300 }, (_, at) => run('busy', `busy ${at}`));
    all.push(run('quiet', 'quiet 0'), run('quiet', 'quiet 1'));
    end.resolve();
    await Promise.all(all);
    expect(ended.slice(0, 6)).toEqual(['busy 0', 'busy 1', 'quiet 0', 'busy 2', 'quiet 1', 'busy 3']);
    expect(ended).toHaveLength(302);
  });

  it('refuses the last work of the caller with most of it, not that of another', async () => {
    const bounded = createBounded(1, { waiting: 3, refused: () => new Error('full') });
    const run = (caller: string) => bounded(() => Promise.resolve(caller), caller).catch(() => 'refused');
    const work = ['busy', 'busy', 'busy', 'busy', 'quiet', 'other'].map(run);
    expect(await Promise.all(work)).toEqual(['busy', 'busy', 'refused', 'refused', 'quiet', 'other']);
    expect(await run('busy')).toBe('busy');
  });
});
