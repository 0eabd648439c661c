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

test('an append of this process has more events until its last one, and until the position of its answer', async () => {
  const history = createReadHistory(parseAddress('kurrentdb://HOST:2113?tls=false'), async () => []);
  const answered = history.appending([[event(1), event(2), event(3)], [event(4)]]);
  const hasMore = (n: number) => history.hasMore([event(n)], BigInt(n));
  expect([1, 2, 3, 4].map(hasMore)).toEqual([true, true, false, false]);
  answered();
  expect([1, 2, 3].map(hasMore)).toEqual([false, false, false]);
  await history.stored(history.mark(), 3n);
  expect([1, 2, 3, 4].map(hasMore)).toEqual([true, true, false, false]);
});
