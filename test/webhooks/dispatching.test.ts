import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { PostResult } from '../../services/outbox/post-request.ts';
import { outcomeOf } from '../../services/outbox/request-outcome.ts';
import {
  type DeliveryStore,
  openDeliveryStore,
  type StoredDelivery,
} from '../../services/webhooks/delivery-store.ts';
import {
  createDispatcher,
  type DispatcherOptions,
  decideAttempt,
} from '../../services/webhooks/dispatcher.ts';
import { createDueDeliveries } from '../../services/webhooks/due-deliveries.ts';
import { WEBHOOK_LIMITS, type WebhookLimits } from '../../services/webhooks/webhook-limits.ts';
import { createCondition } from '../../shared/condition.ts';
import type { Webhook } from '../../shared/webhooks/webhook-state.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

/** Pause of a webhook whose results cannot be stored. */
const TROUBLE_MS = 30_000;
const QUICK: WebhookLimits = { ...WEBHOOK_LIMITS, retryMs: [20, 20, 20, 20], lookMs: 10 };

let receiver: Receiver;
let store: DeliveryStore;
let moved: ReturnType<typeof createCondition>;

beforeEach(async () => {
  receiver = await startReceiver();
  const folder = mkdtempSync(join(tmpdir(), 'varve-deliveries-'));
  store = openDeliveryStore(folder);
  moved = createCondition();
  onTestFinished(async () => {
    store.close();
    await receiver.close();
    rmSync(folder, { recursive: true });
  });
});

function hookAt(url: string, id = 'h1'): Webhook {
  return {
    ...{ id, url, name: id, events: ['entry.update'], types: [], locales: [], populate: '', sealed: '' },
    ...{ allowPrivate: true, status: 'active', reason: null, createdAt: '', since: 0n },
  };
}

/** Returns the commands of a dispatcher. `disabled` is called with the id of a webhook that it disables. */
function commandsWith(disabled: (id: string) => void): DispatcherOptions['commands'] {
  return {
    open: () => ({ secrets: [], headers: {} }),
    async disable(id) {
      disabled(id);
      return { hook: hookAt('', id), position: 0n };
    },
  };
}

/** Starts a dispatcher. The test's deliveries are `update`s of documents. */
function start(
  limits: WebhookLimits,
  hooks: readonly Webhook[] = [hookAt(receiver.url)],
  from: DeliveryStore = store,
) {
  const gone: string[] = [];
  const dispatcher = createDispatcher({
    store: from,
    limits,
    hooks: () => new Map(hooks.map((hook) => [hook.id, hook])),
    commands: commandsWith((id) => gone.push(id)),
    report: {
      attempted: () => moved.check(),
      error(error) {
        throw error;
      },
    },
  });
  onTestFinished(dispatcher.close);
  return { dispatcher, gone };
}

let position = 0n;
function add(documentId: string, hook = 'h1', at = Date.now()): string {
  position += 1n;
  const id = `wh_${hook}_${position}_${documentId}`;
  const body = JSON.stringify({ event: 'entry.update', documentId, position: String(position) });
  const named = { hook, position, event: 'entry.update', type: 'api::tag.tag', documentId } as const;
  store.add([{ id, body, ...named }], position, at);
  return id;
}

const idsAt = () => receiver.received.map(({ id }) => id);
const read = (id = '') => store.find(id) as StoredDelivery;
const stateOf = (id: string) => store.find(id)?.state;
const until = (holds: () => boolean) => moved.until(holds);

it('keeps the order of a document while deliveries of others overtake it', async () => {
  const [a1, a2, b1] = [add('a'), add('a'), add('b')];
  const failures = new Map<string, number>();
  receiver.answer(({ id }) => {
    failures.set(id, (failures.get(id) ?? 0) + 1);
    return { status: id === a1 && (failures.get(id) ?? 0) < 4 ? 500 : 200 };
  });
  start(QUICK).dispatcher.look();
  await until(() => stateOf(a2) === 'delivered');
  expect(idsAt().filter((id) => id !== b1)).toEqual([a1, a1, a1, a1, a2]);
  expect(stateOf(b1)).toBe('delivered');
  expect(store.find(a1)).toMatchObject({ attempts: 4, status: 200, error: null });
});

it('parks a delivery after its last attempt, and sends it again when it is replayed', async () => {
  const id = add('a');
  receiver.answer(() => ({ status: 503 }));
  start({ ...QUICK, retryMs: [10, 10] }).dispatcher.look();
  await until(() => stateOf(id) === 'parked');
  expect(receiver.received).toHaveLength(3);
  expect(store.find(id)).toMatchObject({ attempts: 3, status: 503, error: 'the receiver answered 503' });
  receiver.answer(() => ({ status: 204 }));
  expect(store.replay({ hook: 'h1', parked: true }, Date.now())).toBe(1);
  await until(() => stateOf(id) === 'delivered');
  expect(new Set(idsAt())).toEqual(new Set([id]));
});

it('parks a failing delivery that delays another one for too long', async () => {
  const [a1, a2] = [add('a'), add('a')];
  receiver.answer(({ id }) => ({ status: id === a1 ? 500 : 200 }));
  start({ ...QUICK, retryMs: [600_000], holdMs: 50 }).dispatcher.look();
  await until(() => stateOf(a2) === 'delivered');
  expect(stateOf(a1)).toBe('parked');
  expect(idsAt()).toEqual([a1, a2]);
});

it('lets a failing delivery wait for its next attempt while it delays no other one', async () => {
  const [id, other] = [add('a'), add('b')];
  receiver.answer((one) => ({ status: one.id === id ? 500 : 200 }));
  start({ ...QUICK, retryMs: [600_000], holdMs: 0 }).dispatcher.look();
  await until(() => stateOf(other) === 'delivered' && store.find(id)?.attempts === 1);
  store.park(Date.now(), Date.now());
  expect(stateOf(id)).toBe('waiting');
});

it('pauses a receiver that asks for it', async () => {
  const [first, second] = [add('a'), add('b')];
  receiver.answer((_one, count) =>
    count === 1 ? { status: 429, headers: { 'retry-after': '1' } } : { status: 200 },
  );
  const before = Date.now();
  start({ ...QUICK, inFlight: 1 }).dispatcher.look();
  await until(() => stateOf(first) === 'delivered' && stateOf(second) === 'delivered');
  expect(idsAt()).toEqual([first, first, second]);
  expect(Date.now() - before).toBeGreaterThanOrEqual(990);
});

it('pauses the receiver, even if the refused delivery is parked', async () => {
  const [parked, waiting, free] = [add('a'), add('b'), add('a', 'h2')];
  receiver.answer(({ id }) =>
    id === parked ? { status: 429, headers: { 'retry-after': '3600' } } : { status: 200 },
  );
  const hooks = [hookAt(receiver.url)];
  const { dispatcher } = start({ ...QUICK, retryMs: [], inFlight: 1 }, hooks);
  dispatcher.look();
  await until(() => stateOf(parked) === 'parked');
  hooks.push(hookAt(receiver.url, 'h2'));
  dispatcher.look();
  await until(() => stateOf(free) === 'delivered');
  expect(stateOf(waiting)).toBe('waiting');
});

it('keeps the pause after a restart too, until an operator pauses and resumes the hook', async () => {
  const first = add('a');
  receiver.answer(() => ({ status: 429, headers: { 'retry-after': '3600' } }));
  const { dispatcher } = start(QUICK);
  dispatcher.look();
  await until(() => store.find(first)?.attempts === 1);
  await dispatcher.close();
  receiver.answer(() => ({ status: 200 }));
  const [second, free] = [add('b'), add('b', 'h2')];
  const hooks = [hookAt(receiver.url), hookAt(receiver.url, 'h2')];
  const next = start(QUICK, hooks).dispatcher;
  next.look();
  await until(() => stateOf(free) === 'delivered');
  expect([stateOf(first), stateOf(second)]).toEqual(['waiting', 'waiting']);
  hooks[0] = { ...hookAt(receiver.url), status: 'paused' };
  next.look();
  hooks[0] = hookAt(receiver.url);
  next.look();
  await until(() => stateOf(second) === 'delivered');
  expect(idsAt()).toEqual([first, free, second]);
});

it.each([
  ['while it runs', false],
  ['between two starts', true],
])('waits no longer after the clock was set back by an hour %s', async (_, isRestarted) => {
  const [failing, paused] = [add('a'), add('b', 'h2')];
  receiver.answer(({ id }) =>
    id === paused ? { status: 429, headers: { 'retry-after': '1' } } : { status: 500 },
  );
  const hooks = [hookAt(receiver.url), hookAt(receiver.url, 'h2')];
  const { dispatcher } = start({ ...QUICK, retryMs: [1_000, 1_000] }, hooks);
  dispatcher.look();
  await until(() => [failing, paused].every((id) => store.find(id)?.attempts === 1));
  receiver.answer(() => ({ status: 200 }));
  const clock = Date.now;
  const setBack = vi.spyOn(Date, 'now').mockImplementation(() => clock() - 3_600_000);
  onTestFinished(() => setBack.mockRestore());
  if (isRestarted) {
    await dispatcher.close();
    start(QUICK, hooks);
  }
  await until(() => stateOf(failing) === 'delivered' && stateOf(paused) === 'delivered');
  expect(idsAt()).toHaveLength(4);
});

it('reports that a receiver is gone, and parks its deliveries', async () => {
  const id = add('a');
  receiver.answer(() => ({ status: 410 }));
  const { dispatcher, gone } = start(QUICK);
  dispatcher.look();
  await until(() => stateOf(id) === 'parked');
  expect(gone).toEqual(['h1']);
  expect(receiver.received).toHaveLength(1);
});

it('limits concurrent deliveries of a hook, and other hooks do not wait for them', async () => {
  const other = await startReceiver();
  onTestFinished(other.close);
  const hang = Promise.withResolvers<void>();
  receiver.answer(async () => {
    await hang.promise;
    return { status: 200 };
  });
  const ids = Array.from({ length: 8 }, (_, n) => add(`d${n}`));
  const free = add('d0', 'h2');
  start({ ...QUICK, inFlight: 3 }, [hookAt(receiver.url), hookAt(other.url, 'h2')]).dispatcher.look();
  await until(() => stateOf(free) === 'delivered');
  await receiver.until(3);
  hang.resolve();
  await until(() => ids.every((id) => stateOf(id) === 'delivered'));
  expect(receiver.mostAtOnce()).toBe(3);
});

it('tries again after a receiver that does not answer in time', async () => {
  const id = add('a');
  receiver.answer((_one, count) => (count === 1 ? { status: 200, hangs: true } : { status: 200 }));
  start({ ...QUICK, timeoutMs: 200 }).dispatcher.look();
  await until(() => stateOf(id) === 'delivered');
  expect(receiver.received.length).toBeGreaterThan(1);
  expect(new Set(idsAt())).toEqual(new Set([id]));
});

it('sends nothing of a hook that is paused', async () => {
  const [id, free] = [add('a'), add('a', 'h2')];
  const paused = { ...hookAt(receiver.url), status: 'paused' } as const;
  start(QUICK, [paused, hookAt(receiver.url, 'h2')]).dispatcher.look();
  await until(() => stateOf(free) === 'delivered');
  expect(stateOf(id)).toBe('waiting');
});

it('removes deliveries after their time, and those of removed hooks', () => {
  const now = Date.now();
  const [old, fresh, foreign] = [add('a', 'h1', now - 100), add('a', 'h1', now), add('a', 'h2', now)];
  store.prune(now - 50, new Set(['h1']));
  expect([old, fresh, foreign].map(stateOf)).toEqual([undefined, 'waiting', undefined]);
});

it('sends deliveries of a document again in the order in which they are made again', async () => {
  const [early, late] = [add('a'), add('a')];
  const { dispatcher } = start(QUICK);
  dispatcher.look();
  await until(() => stateOf(late) === 'delivered');
  const [first, second] = [early, late].map((id) => store.find(id) as StoredDelivery);
  const lost = { ...(first as StoredDelivery), id: 'lost', body: '{}' };
  const other = { ...(second as StoredDelivery), body: '{}' };
  store.addAgain([lost, other, first as StoredDelivery], Date.now());
  dispatcher.look();
  await until(() => ['lost', early, late].every((id) => stateOf(id) === 'delivered'));
  expect(idsAt()).toEqual([early, late, 'lost', late, early]);
  expect(receiver.received[3]?.body).toBe(receiver.received[1]?.body);
});

it('sends a delivery again that is replayed while its request is on its way', async () => {
  const id = add('a');
  const first = Promise.withResolvers<void>();
  receiver.answer(async (_one, count) => {
    if (count === 1) await first.promise;
    return { status: 200 };
  });
  start(QUICK).dispatcher.look();
  await receiver.until(1);
  store.addAgain([store.find(id) as StoredDelivery], Date.now());
  first.resolve();
  await until(() => stateOf(id) === 'delivered');
  expect(idsAt()).toEqual([id, id]);
  expect(store.find(id)?.attempts).toBe(1);
});

it('reads what waits for many attempts together', async () => {
  const reads = { due: 0, park: 0 };
  const counting: DeliveryStore = {
    ...store,
    due(...asked) {
      reads.due += 1;
      return store.due(...asked);
    },
    park(...asked) {
      reads.park += 1;
      return store.park(...asked);
    },
  };
  const ids = Array.from({ length: 600 }, (_, n) => add(`d${n % 300}`));
  start({ ...QUICK, lookMs: 600_000 }, [hookAt(receiver.url)], counting).dispatcher.look();
  await until(
    () => receiver.received.length === ids.length && ids.every((id) => stateOf(id) === 'delivered'),
  );
  expect(idsAt().slice(0, 300)).toEqual(expect.arrayContaining(ids.slice(0, 300)));
  expect(reads.park).toBe(0);
  expect(reads.due).toBeLessThan(30);
});

it('omits deliveries of its list that have changed since it was read', () => {
  const [first, failed, delivered, again, last] = ['a', 'b', 'c', 'd', 'e'].map((each) => add(each));
  const flying = new Set([first, failed, delivered]);
  const due = createDueDeliveries(store, flying);
  const now = Date.now();
  const take = () => due.take('h1', now, 1).map(({ id }) => id);
  store.attempted(read(first), { state: 'parked', nextAt: now, status: 500, error: 'x' });
  flying.delete(first);
  store.replay({ hook: 'h1', parked: true }, now);
  expect(take()).toEqual([first]);
  store.attempted(read(failed), { state: 'waiting', nextAt: now + 1, status: 500, error: 'x' });
  store.attempted(read(delivered), { state: 'delivered', nextAt: now, status: 200, error: null });
  store.addAgain([read(again)], now);
  flying.clear();
  expect(take()).toEqual([last]);
});

it('schedules other deliveries of a range of positions again, once', async () => {
  const ids = [add('a'), add('b'), add('c'), add('d')];
  start(QUICK).dispatcher.look();
  await until(() => ids.every((id) => stateOf(id) === 'delivered'));
  const [, b, c] = ids.map((id) => store.find(id) as StoredDelivery);
  const before = Date.now() + 1;
  const range = { hook: 'h1', from: b?.position ?? 0n, until: c?.position ?? 0n, before };
  store.addAgain([b as StoredDelivery], before);
  store.replayOthers(range, before);
  expect(store.open().map(({ id }) => id)).toEqual([c?.id, b?.id]);
  expect(store.countSince('h1', b?.position ?? 0n)).toBe(3);
});

it('adds a delivery once', () => {
  const id = add('a');
  const known = store.find(id) as StoredDelivery;
  store.add([{ ...known, body: '{}' }], 9n, Date.now());
  expect(store.find(id)?.body).toBe(known.body);
  expect(store.checkpoint()).toBe(9n);
});

it('follows the schedule of Standard Webhooks', () => {
  const decide = (attempts: number, result: PostResult) =>
    decideAttempt(WEBHOOK_LIMITS, { attempts }, outcomeOf(result, WEBHOOK_LIMITS.longestRetryAfterMs), 0);
  const failed = { kind: 'failed', reason: 'x' } as const;
  const waits = WEBHOOK_LIMITS.retryMs.map((usual, attempts) => {
    const attempt = decide(attempts, failed);
    expect(attempt).toMatchObject({ state: 'waiting', status: null, error: 'x' });
    return attempt.nextAt / usual;
  });
  for (const share of waits) expect(share).toBeGreaterThanOrEqual(0.9);
  for (const share of waits) expect(share).toBeLessThanOrEqual(1);
  expect(decide(WEBHOOK_LIMITS.retryMs.length, failed).state).toBe('parked');
  const asked = { kind: 'answered', status: 503, retryAfterMs: 60_000 } as const;
  expect(decide(0, asked).nextAt).toBe(60_000);
  const tooLong = { ...asked, retryAfterMs: 10 ** 12 };
  expect(decide(0, tooLong).nextAt).toBe(WEBHOOK_LIMITS.longestRetryAfterMs);
});

it('sends nothing for half a minute when results cannot be stored', async () => {
  const failures: unknown[] = [];
  const clock = vi.spyOn(Date, 'now');
  onTestFinished(() => clock.mockRestore());
  const begun = Date.now();
  let isFull = true;
  add('a', 'h1', begun);
  const dispatcher = createDispatcher({
    store: {
      ...store,
      attempted(...attempt) {
        if (isFull) throw new Error('the disk is full');
        store.attempted(...attempt);
      },
    },
    limits: QUICK,
    hooks: () => new Map([['h1', hookAt(receiver.url)]]),
    commands: commandsWith(() => {}),
    report: { attempted: () => moved.check(), error: (error) => failures.push(error) },
  });
  onTestFinished(dispatcher.close);
  dispatcher.look();
  await expect.poll(() => failures.length).toBe(1);
  isFull = false;
  clock.mockImplementation(() => begun + TROUBLE_MS - 1);
  await delay(10 * QUICK.lookMs);
  expect(receiver.received).toHaveLength(1);
  clock.mockImplementation(() => begun + 2 * TROUBLE_MS);
  await receiver.until(2);
});
