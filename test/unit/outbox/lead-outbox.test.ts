import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { leadOutbox } from '../../../services/outbox/lead-outbox.ts';
import { createCondition } from '../../../shared/condition.ts';

const PATIENT = { timeout: 30_000, interval: 5 };

function startOutbox() {
  const moved = createCondition();
  const state = { epoch: undefined as number | undefined, isEmpty: false };
  const seen: string[] = [];
  const failures: unknown[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const outbox = leadOutbox({
    fleet: {
      epoch: () => state.epoch,
      async changed(ms) {
        const { epoch } = state;
        await moved.until(() => state.epoch !== epoch, ms);
      },
    },
    hasWork: () => !state.isEmpty,
    async begin(epoch) {
      seen.push(`begin ${epoch}`);
      const end = Promise.withResolvers<void>();
      ends.push(end);
      return {
        done: end.promise,
        look: () => void seen.push('look'),
        close: async (isLeading) => void seen.push(`close ${isLeading}`),
      };
    },
    failed: (error) => failures.push(error),
  });
  onTestFinished(outbox.stop);
  return {
    outbox,
    state,
    seen,
    failures,
    ends,
    lead(epoch: number | undefined) {
      state.epoch = epoch;
      moved.check();
    },
    /** Waits for what the outbox did since the last call. */
    async saw(...expected: readonly string[]) {
      await expect.poll(() => seen, PATIENT).toEqual(expected);
      seen.length = 0;
    },
  };
}

it('sends in the terms of this process only', async () => {
  const { outbox, lead, saw } = startOutbox();
  await delay(5);
  await saw();
  lead(3);
  await saw('begin 3');
  outbox.wake();
  await saw('look');
  lead(4);
  await saw('close false', 'begin 4');
  lead(undefined);
  await saw('close false');
  expect(outbox.term()).toBeUndefined();
  outbox.wake();
  await delay(5);
  await saw();
});

it('ends its term when there is nothing to send any more, and begins one when there is', async () => {
  const { outbox, state, lead, saw } = startOutbox();
  lead(3);
  await saw('begin 3');
  state.isEmpty = true;
  outbox.wake();
  await saw('look', 'close true');
  state.isEmpty = false;
  outbox.wake();
  await saw('begin 3');
  await outbox.stop();
  await saw('close true');
});

it('begins a term again after a pause if it fails', async () => {
  const { ends, failures, lead, saw } = startOutbox();
  lead(3);
  await saw('begin 3');
  ends[0]?.reject(new Error('the log is away'));
  await saw('close true', 'begin 3');
  expect(failures.map(String)).toEqual(['Error: the log is away']);
});

it('notices within a second that there is something to send, without a call', async () => {
  const { state, lead, saw } = startOutbox();
  state.isEmpty = true;
  lead(3);
  await delay(5);
  await saw();
  state.isEmpty = false;
  await saw('begin 3');
});
