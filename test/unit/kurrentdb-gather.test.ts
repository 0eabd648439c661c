import { expect, test } from 'vitest';
import { parseAddress } from '../../shared/event-store/kurrentdb/kurrentdb-address.ts';
import type { Recorded } from '../../shared/event-store/kurrentdb/kurrentdb-event.ts';
import { createReadHistory } from '../../shared/event-store/kurrentdb/kurrentdb-history.ts';
import { gather, type SpaceStep } from '../../shared/event-store/kurrentdb/kurrentdb-space-call.ts';

const event = (n: number): Recorded =>
  ({ id: `${n}`, streamId: 'varve.a', revision: BigInt(n) }) as unknown as Recorded;
const stepTo = (upTo: bigint, ...events: readonly Recorded[]): SpaceStep => ({ events, upTo, bytes: 1 });

/** Returns a call that has these steps. After them it waits until it is woken. */
const callOf = (...steps: readonly SpaceStep[]) => {
  const left = [...steps];
  const woken = Promise.withResolvers<void>();
  const limits: number[] = [];
  return {
    limits,
    async next(limit: number): Promise<SpaceStep> {
      limits.push(limit);
      const step = left.shift();
      if (step === undefined) await woken.promise;
      return step ?? stepTo(steps.at(-1)?.upTo ?? 0n);
    },
    wake: () => woken.resolve(),
  };
};

test('events that arrive in parts make one step', async () => {
  const call = callOf(stepTo(1n, event(1)), stepTo(3n, event(2), event(3)), stepTo(4n, event(4)));
  const step = await gather(call, 100, ({ upTo }) => upTo >= 3n);
  expect(step).toEqual({ events: [1, 2, 3].map(event), upTo: 3n, bytes: 2 });
  expect(call.limits).toEqual([100, 99]);
});

test('events that have arrived do not wait for those that are missing', async () => {
  const call = callOf(stepTo(1n, event(1)));
  const step = await gather(call, 100, () => false);
  expect(step).toEqual({ events: [event(1)], upTo: 1n, bytes: 2 });
});

test('a step has no more events than the caller wants', async () => {
  const call = callOf(stepTo(1n, event(1)), stepTo(2n, event(2)), stepTo(3n, event(3)));
  expect((await gather(call, 2, () => false))?.upTo).toBe(2n);
});

test('a step has the rest of an append of this process, and ends under constant appends', async () => {
  const history = createReadHistory(parseAddress('kurrentdb://HOST:2113?tls=false'), async () => []);
  const isWhole = (n: number) => history.wholeAppends()(stepTo(BigInt(n), event(n)));
  const answered = history.appending([[event(1), event(2), event(3)], [event(4)]]);
  expect([1, 2, 3, 4].map(isWhole)).toEqual([false, false, true, true]);
  answered();
  expect([1, 2, 3].map(isWhole)).toEqual([true, true, true]);
  await history.stored(history.mark(), 6n);
  expect([5, 6].map(isWhole)).toEqual([false, true]);
  const ofOneStep = history.wholeAppends();
  expect(ofOneStep(stepTo(5n, event(5)))).toBe(false);
  await history.stored(history.mark(), 9n);
  expect(ofOneStep(stepTo(6n, event(6)))).toBe(true);
  expect(history.wholeAppends()(stepTo(6n))).toBe(true);
});
