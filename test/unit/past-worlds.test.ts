import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import {
  createPastWorlds,
  PAST_LIMITS,
  type PastMoment,
  type PastProcess,
} from '../../services/past/past-worlds.ts';
import { RequestError } from '../../shared/request-error.ts';

/** Processes that a test opens, fails and ends itself. */
function createProcesses() {
  const started: { moment: PastMoment; opened: PromiseWithResolvers<string>; isKilled: boolean }[] = [];
  const start = (moment: PastMoment): PastProcess => {
    const opened = Promise.withResolvers<string>();
    const ended = Promise.withResolvers<void>();
    opened.promise.catch(() => {});
    const made = { moment, opened, isKilled: false };
    started.push(made);
    const kill = () => {
      made.isKilled = true;
      ended.resolve();
    };
    return { opened: opened.promise, ended: ended.promise, kill };
  };
  return { started, start };
}

const TURN = () => new Promise(setImmediate);

it('opens a moment once, one after the other, and ends the one that was used last when another is asked for', async () => {
  const { started, start } = createProcesses();
  const worlds = createPastWorlds({ start, atMost: 1, failed: () => {} });
  const uses = [
    worlds.use({ position: 5n }),
    worlds.use({ position: 5n }),
    worlds.use({ position: 9n }),
  ] as const;
  await TURN();
  expect(started.map(({ moment }) => moment.position)).toEqual([5n]);
  started[0]?.opened.resolve('five');
  const [first, second] = await Promise.all([uses[0], uses[1]]);
  expect([first.address, second.address]).toEqual(['five', 'five']);
  first.done();
  first.done();
  await TURN();
  // The second request still reads.
  expect(started[0]?.isKilled).toBe(false);
  second.done();
  await expect.poll(() => started.length).toBe(2);
  started[1]?.opened.resolve('nine');
  expect((await uses[2]).address).toBe('nine');
  expect(started[0]?.isKilled).toBe(true);
  expect(worlds.count()).toBe(1);
  await worlds.close();
  expect(worlds.count()).toBe(0);
});

it('answers 503 to a request that waits too long, and continues to open the moment', async () => {
  const { started, start } = createProcesses();
  const worlds = createPastWorlds({
    start,
    atMost: 1,
    failed: () => {},
    limits: { ...PAST_LIMITS, waitMs: 1, waiting: 1 },
  });
  const late = worlds.use({ position: 5n });
  await expect(worlds.use({ position: 5n })).rejects.toMatchObject({ code: 'past-opening' });
  await expect(late).rejects.toMatchObject({ code: 'past-opening' });
  started[0]?.opened.resolve('five');
  await TURN();
  expect((await worlds.use({ position: 5n })).address).toBe('five');
  expect(started).toHaveLength(1);
});

it('remembers a refused moment, and opens one again whose process failed', async () => {
  const { started, start } = createProcesses();
  const failures: bigint[] = [];
  const worlds = createPastWorlds({ start, atMost: 2, failed: (position) => failures.push(position) });
  const refused = worlds.use({ position: 5n });
  await TURN();
  started[0]?.opened.reject(new RequestError('not-supported', 'too many rows'));
  await expect(refused).rejects.toThrow('too many rows');
  await expect(worlds.use({ position: 5n })).rejects.toThrow('too many rows');
  const failed = worlds.use({ position: 6n });
  await TURN();
  started[1]?.opened.reject(new Error('killed'));
  await expect(failed).rejects.toMatchObject({ code: 'past-opening' });
  const again = worlds.use({ position: 6n });
  await TURN();
  started[2]?.opened.resolve('six');
  expect((await again).address).toBe('six');
  expect([started.length, failures]).toEqual([3, [6n]]);
});

it('ends a moment without requests', async () => {
  const { started, start } = createProcesses();
  const limits = { ...PAST_LIMITS, idleMs: 10 };
  const worlds = createPastWorlds({ start, atMost: 1, failed: () => {}, limits });
  const used = worlds.use({ position: 5n });
  await TURN();
  started[0]?.opened.resolve('five');
  (await used).done();
  await expect.poll(() => worlds.count()).toBe(0);
});

it('opens a preview and the past at the same position, and another preview for later releases', async () => {
  const { started, start } = createProcesses();
  const worlds = createPastWorlds({ start, atMost: 3, failed: () => {} });
  const moments: readonly PastMoment[] = [
    { position: 5n },
    { position: 5n, until: 1 },
    { position: 5n, until: 2 },
  ];
  for (const [n, moment] of [...moments, ...moments].entries()) {
    const used = worlds.use(moment);
    await TURN();
    started[n]?.opened.resolve(`world ${n}`);
    expect((await used).address).toBe(`world ${n % 3}`);
  }
  expect(started.map(({ moment }) => moment)).toEqual(moments);
});

it('opens no moment that nobody waits for any more', async () => {
  const { started, start } = createProcesses();
  const limits = { ...PAST_LIMITS, waitMs: 1, wantedMs: 20 };
  const worlds = createPastWorlds({ start, atMost: 1, failed: () => {}, limits });
  const late = [worlds.use({ position: 5n }), worlds.use({ position: 6n }), worlds.use({ position: 7n })];
  for (const each of await Promise.allSettled(late)) expect(each.status).toBe('rejected');
  await delay(50);
  const wanted = worlds.use({ position: 7n });
  started[0]?.opened.resolve('five');
  await expect(wanted).rejects.toMatchObject({ code: 'past-opening' });
  await expect.poll(() => started.length).toBe(2);
  expect(started.map(({ moment }) => moment.position)).toEqual([5n, 7n]);
});

it('refuses a moment if too many wait for their turn, and not one that waits already', async () => {
  const { started, start } = createProcesses();
  const limits = { ...PAST_LIMITS, moments: 2 };
  const worlds = createPastWorlds({ start, atMost: 4, failed: () => {}, limits });
  const first = worlds.use({ position: 1n });
  await TURN();
  const waiting = [2n, 3n, 3n].map((position) => worlds.use({ position }));
  await expect(worlds.use({ position: 4n })).rejects.toMatchObject({ code: 'past-opening' });
  started[0]?.opened.resolve('one');
  expect((await first).address).toBe('one');
  for (const n of [1, 2]) {
    await expect.poll(() => started.length).toBe(n + 1);
    started[n]?.opened.resolve(`world ${n}`);
  }
  expect((await Promise.all(waiting)).map(({ address }) => address)).toEqual([
    'world 1',
    'world 2',
    'world 2',
  ]);
});
