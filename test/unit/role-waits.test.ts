import { expect, it } from 'vitest';
import { createRoleWaits } from '../../services/elasticsearch/role-waits.ts';

/** Longer than a test. */
const LONG_MS = 60_000;

/** Creates a role that shows nothing before `show`. */
function createRole() {
  const visible = Promise.withResolvers<void>();
  const shown = Promise.withResolvers<boolean>();
  const asked: number[] = [];
  return {
    asked,
    visible: () => visible.promise,
    shows(_position: bigint, timeoutMs: number) {
      asked.push(timeoutMs);
      return shown.promise;
    },
    show() {
      visible.resolve();
      shown.resolve(true);
    },
    end: () => shown.resolve(false),
  };
}

function startWaits() {
  const roles = [createRole(), createRole()] as const;
  let now: (typeof roles)[number] = roles[0];
  const waits = createRoleWaits(() => now);
  const change = () => {
    [, now] = roles;
    waits.changed();
  };
  return { first: roles[0], next: roles[1], waits, change };
}

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  for (let turns = 0; turns < 10; turns++) await Promise.resolve();
  return (await Promise.race([promise.then(() => false), Promise.resolve(true)])) as boolean;
}

it('a wait continues with the next role when its own ends', async () => {
  const { first, next, waits, change } = startWaits();
  const [visible, shows] = [waits.visible(1n), waits.shows(1n, LONG_MS)];
  change();
  first.end();
  expect([await isPending(visible), await isPending(shows)]).toEqual([true, true]);
  next.show();
  await visible;
  expect(await shows).toBe(true);
});

it('the next role has the rest of the time', async () => {
  const { first, next, waits, change } = startWaits();
  void waits.shows(1n, LONG_MS);
  await new Promise((resolve) => setTimeout(resolve, 20));
  change();
  expect(first.asked).toEqual([expect.toSatisfy((ms: number) => ms <= LONG_MS && ms > 0)]);
  expect(next.asked[0]).toBeLessThan(first.asked[0] as number);
});

it('a position that the earlier role shows counts, even after its end', async () => {
  const { first, waits, change } = startWaits();
  const shows = waits.shows(1n, LONG_MS);
  change();
  first.show();
  expect(await shows).toBe(true);
});

it('a wait ends at its time limit, or with the last role', async () => {
  const { first, waits } = startWaits();
  const shows = waits.shows(1n, LONG_MS);
  first.end();
  expect(await shows).toBe(false);
});

it('a wait that has ended does not ask the next role', async () => {
  const { first, next, waits, change } = startWaits();
  first.show();
  expect(await waits.shows(1n, LONG_MS)).toBe(true);
  change();
  expect(next.asked).toEqual([]);
});
