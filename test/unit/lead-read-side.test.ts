import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { leadReadSide } from '../../services/read-side/lead-read-side.ts';

/**
 * Makes a process whose terms end as given, some turns after they began: readable, replaced or refused by the index. Later terms never end.
 * `isNext`: another process served before.
 */
function createProcess(isNext: boolean, terms: readonly (boolean | Error)[]) {
  const left = [...terms];
  const lead = async () => {
    const term = left.shift();
    await nextTurn();
    if (term === undefined) return new Promise<never>(() => {});
    if (term instanceof Error) throw term;
    return term;
  };
  return leadReadSide({ lead, standBy: async () => true }, isNext);
}

/** Resolves to the outcome of a promise after some turns of the event loop. */
async function outcomeOf(promise: Promise<void>): Promise<string> {
  let outcome = 'open';
  promise.then(
    () => {
      outcome = 'resolved';
    },
    (error: Error) => {
      outcome = error.message;
    },
  );
  for (let turn = 0; turn < 10; turn++) await nextTurn();
  return outcome;
}

it('a process that has replaced another one waits for its index in its first term only', async () => {
  const led = createProcess(true, [true]);
  expect(await outcomeOf(led.lead(1))).toBe('resolved');
  led.standBy();
  expect(await outcomeOf(led.lead(3))).toBe('resolved');
});

it('waits in the next term if its first one has shown nothing', async () => {
  const led = createProcess(true, [false]);
  expect(await outcomeOf(led.lead(1))).toBe('resolved');
  expect(await outcomeOf(led.lead(3))).toBe('open');
});

it('leaves the failure of a term that it waits for to the caller', async () => {
  const led = createProcess(true, [new Error('an index is gone')]);
  expect(await outcomeOf(led.lead(1))).toBe('an index is gone');
  expect(await outcomeOf(led.done)).toBe('open');
});

it('ends with the failure of its term, and not with that of an earlier one', async () => {
  const led = createProcess(false, [new Error('an index is gone'), new Error('wrong password')]);
  expect(await outcomeOf(led.lead(1).then(led.standBy))).toBe('resolved');
  expect(await outcomeOf(led.done)).toBe('open');
  expect(await outcomeOf(led.lead(3))).toBe('resolved');
  expect(await outcomeOf(led.done)).toBe('wrong password');
});
