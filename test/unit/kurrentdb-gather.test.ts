import { expect, test } from 'vitest';
import type { Recorded } from '../../shared/event-store/kurrentdb/kurrentdb-event.ts';
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
