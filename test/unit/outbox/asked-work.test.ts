import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createAskedWork } from '../../../services/outbox/asked-work.ts';

const PATIENT = { timeout: 30_000, interval: 2 };

/** Work that lasts until the test says so. */
function startWork(againMs: number) {
  const begun: PromiseWithResolvers<void>[] = [];
  const failures: unknown[] = [];
  const work = createAskedWork({
    work() {
      const one = Promise.withResolvers<void>();
      begun.push(one);
      return one.promise;
    },
    againMs,
    failed: (error) => failures.push(error),
  });
  onTestFinished(async () => {
    for (const one of begun) one.resolve();
    await work.close();
  });
  return { work, begun, failures };
}

it('does work one after the other, and once more if it is asked meanwhile', async () => {
  const { work, begun } = startWork(1);
  work.look();
  for (let n = 0; n < 3; n++) work.look();
  await delay(5);
  expect(begun).toHaveLength(1);
  begun[0]?.resolve();
  await expect.poll(() => begun.length, PATIENT).toBe(2);
  begun[1]?.resolve();
  await delay(5);
  expect(begun).toHaveLength(2);
  work.look();
  await expect.poll(() => begun.length, PATIENT).toBe(3);
});

it('reports a failure, and does the work again after a pause', async () => {
  const { work, begun, failures } = startWork(50);
  work.look();
  const failedAt = performance.now();
  begun[0]?.reject(new Error('the disk is full'));
  await expect.poll(() => begun.length, PATIENT).toBe(2);
  expect(failures.map(String)).toEqual(['Error: the disk is full']);
  // A timer may end a millisecond early.
  expect(performance.now() - failedAt).toBeGreaterThanOrEqual(45);
});

it.each(['while it works', 'while it pauses'])('ends when it is closed %s', async (when) => {
  const { work, begun, failures } = startWork(3_600_000);
  work.look();
  if (when === 'while it pauses') {
    begun[0]?.reject(new Error('failed'));
    await expect.poll(() => failures.length, PATIENT).toBe(1);
  }
  const closed = work.close();
  expect(work.signal.aborted).toBe(true);
  begun[0]?.reject(new Error('ended'));
  await closed;
  work.look();
  await delay(5);
  expect([begun.length, failures.length]).toEqual([1, when === 'while it pauses' ? 1 : 0]);
});
