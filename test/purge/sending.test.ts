import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openPurgeStore, type PurgeStore } from '../../services/purge/purge-store.ts';
import {
  createPurgeSender,
  PURGE_LIMITS,
  type PurgeLimits,
  type SenderOptions,
} from '../../services/purge/send-purges.ts';
import { createCondition } from '../../shared/condition.ts';
import { defined } from '../../shared/defined.ts';
import { createDataDirectory } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

/** Timeout for a busy machine. */
const PATIENT = { timeout: 30_000 };
const LIMITS: PurgeLimits = {
  ...PURGE_LIMITS,
  gatherMs: 1,
  againMs: 5,
  timeoutMs: 60_000,
  slowMs: 60_000,
  backoff: { firstMs: 1, longestMs: 5 },
  longestPauseMs: 5,
};

async function startSender(
  limits: Partial<PurgeLimits> = {},
  searches?: SenderOptions['searches'],
  againAfterMs?: number,
) {
  const receiver = await startReceiver();
  const store = openPurgeStore(createDataDirectory(), () => {});
  const failures: string[] = [];
  let lost = 0;
  const target = { kind: 'webhook', address: receiver.url, ...defined({ againAfterMs }) } as const;
  const create = () =>
    createPurgeSender(
      {
        store,
        searches,
        generation: 'all',
        lost: () => lost,
        all: () => ({ names: ['all'], plain: ['notes'], position }),
        style: { soft: false, token: undefined },
        limits: { ...LIMITS, ...limits },
        report: {
          replaced: () => {},
          purged: () => {},
          failed: (_target, reason) => failures.push(reason),
          error: fail,
        },
      },
      target,
    );
  let sender = create();
  onTestFinished(async () => {
    await sender.close();
    await receiver.close();
    store.close();
  });
  return {
    receiver,
    store,
    failures,
    checkpoint: () => store.checkpoint(`webhook=${receiver.url}`),
    checkpointAgain: () => store.checkpoint(`again webhook=${receiver.url}`),
    look: () => sender.look(),
    lose: () => {
      lost += 1;
    },
    async restart() {
      await sender.close();
      sender = create();
      sender.look();
    },
  };
}

function fail(error: unknown): never {
  throw error;
}

let position = 0n;
function change(store: PurgeStore, ...names: readonly string[]): void {
  position += 1n;
  store.add([{ position, names, plain: [] }]);
}

const tagsOf = ({ received }: Receiver) => received.map(({ json }) => json['tags'] as string[]);

it('purges concurrent changes together, and each only once', async () => {
  const { store, receiver, look, checkpoint } = await startSender({ gatherMs: 20 });
  change(store, 'a', 'b');
  change(store, 'b', 'c');
  look();
  await expect.poll(checkpoint, PATIENT).toBe(2);
  expect(tagsOf(receiver)).toEqual([['a', 'b', 'c']]);
  expect(receiver.received[0]?.json['position']).toBe(String(position));
  change(store, 'd');
  look();
  await expect.poll(checkpoint, PATIENT).toBe(3);
  expect(tagsOf(receiver).slice(1)).toEqual([['d']]);
});

/** Searches that show more when the test says so. */
function createSearches() {
  const moved = createCondition();
  let shown = -1n;
  const asked = new Set<bigint>();
  return {
    asked,
    shown: () => shown,
    // A wait ends early, as if its time were over.
    shows(wanted: bigint) {
      asked.add(wanted);
      return moved.until(() => wanted <= shown, 5);
    },
    show(next: bigint) {
      shown = next;
      moved.check();
    },
  };
}

it('purges changes that searches show, and the rest when they show them', async () => {
  const searches = createSearches();
  const { store, receiver, look, lose, checkpoint } = await startSender({}, searches);
  change(store, 'a');
  change(store, 'b');
  look();
  await delay(50);
  expect([receiver.received.length, searches.asked]).toEqual([0, new Set([position - 1n])]);
  searches.show(position - 1n);
  await expect.poll(checkpoint, PATIENT).toBe(1);
  searches.show(position);
  await expect.poll(checkpoint, PATIENT).toBe(2);
  lose();
  change(store, 'c');
  look();
  await delay(50);
  expect(tagsOf(receiver)).toEqual([['a'], ['b']]);
  searches.show(position);
  await expect.poll(checkpoint, PATIENT).toBe(3);
  expect(tagsOf(receiver)).toEqual([['a'], ['b'], ['all', 'notes'], ['c']]);
});

it('closes while searches do not show a change', async () => {
  const { store, receiver, look, restart } = await startSender({}, createSearches());
  change(store, 'a');
  look();
  await delay(20);
  await restart();
  expect(receiver.received).toEqual([]);
});

it('purges again until the receiver confirms, and then once more: it may have stored an old answer meanwhile', async () => {
  const { store, receiver, look, checkpoint, failures } = await startSender();
  receiver.answer((_request, count) => ({ status: count <= 2 ? 503 : 200 }));
  change(store, 'a');
  look();
  await expect.poll(checkpoint, PATIENT).toBe(1);
  expect(tagsOf(receiver)).toEqual([['a'], ['a'], ['a'], ['a']]);
  expect(failures).toEqual(Array(2).fill('the receiver answered 503'));
});

it('waits as long as a receiver asks for, up to a limit', async () => {
  // Without this setting, the back-off would take longer than this test.
  const { store, receiver, look, checkpoint, failures } = await startSender({
    backoff: { firstMs: 1, longestMs: 1 },
    longestPauseMs: 40,
  });
  const times: number[] = [];
  receiver.answer((_request, count) => {
    times.push(performance.now());
    return count === 1 ? { status: 429, headers: { 'retry-after': '86400' } } : { status: 200 };
  });
  change(store, 'a');
  look();
  await expect.poll(checkpoint, PATIENT).toBe(1);
  expect(failures).toEqual(['the receiver answered 429']);
  // A busy machine waits longer, and a timer may end a millisecond early.
  expect(Number(times[1]) - Number(times[0])).toBeGreaterThanOrEqual(35);
});

it.each([500, 429, 301])(
  'repeats a purge that is answered with %i, up to the longest pause of its back-off',
  async (status) => {
    const { store, receiver, look, checkpoint, failures } = await startSender();
    // The sixth pause is longer than the longest one allowed: 1, 2, 4, 5, 5, 5 ms.
    receiver.answer((_request, count) => ({ status: count <= 6 ? status : 200 }));
    change(store, 'a');
    look();
    change(store, 'b');
    look();
    await expect.poll(checkpoint, PATIENT).toBe(2);
    expect(failures).toEqual(Array(6).fill(`the receiver answered ${status}`));
    expect(new Set(tagsOf(receiver).flat())).toEqual(new Set(['a', 'b']));
  },
);

it('purges all answers at once if changes could not be stored, and again later', async () => {
  const { receiver, look, lose } = await startSender();
  lose();
  look();
  await receiver.until(1);
  look();
  lose();
  look();
  await receiver.until(2);
  expect(tagsOf(receiver)).toEqual([
    ['all', 'notes'],
    ['all', 'notes'],
  ]);
});

it('purges again after an answer that came late', async () => {
  const { store, receiver, look, checkpoint } = await startSender({ slowMs: 20, timeoutMs: 60_000 });
  let late = true;
  receiver.answer(async () => {
    if (late) await new Promise((resolve) => setTimeout(resolve, 40));
    late = false;
    return { status: 200 };
  });
  change(store, 'a');
  look();
  await expect.poll(checkpoint, PATIENT).toBe(1);
  expect(tagsOf(receiver).length).toBeGreaterThanOrEqual(2);
});

it('aborts a request that is not answered in time, and repeats it', async () => {
  const { store, receiver, look, checkpoint, failures } = await startSender({ timeoutMs: 150 });
  receiver.answer((_request, count) => ({ status: 200, ...(count === 1 && { hangs: true }) }));
  change(store, 'a');
  look();
  await expect.poll(checkpoint, PATIENT).toBe(1);
  expect(failures[0]).toBe('no answer within 150 ms');
});

it('continues where the previous process ended', async () => {
  const { store, receiver, look, checkpoint, restart } = await startSender({
    backoff: { firstMs: 60_000, longestMs: 60_000 },
  });
  receiver.answer(() => ({ status: 503 }));
  change(store, 'a');
  look();
  await receiver.until(1);
  receiver.answer(() => ({ status: 200 }));
  await restart();
  await expect.poll(checkpoint, PATIENT).toBe(1);
  expect(tagsOf(receiver)).toEqual([['a'], ['a']]);
});

it('repeats nothing that another leader has purged, if it confirms an earlier purge', async () => {
  const { store, receiver, look, checkpoint } = await startSender();
  for (const name of 'abc') change(store, name);
  receiver.answer(() => {
    // The next worker has the same file open. It is faster than this one.
    store.moveCheckpoint(`webhook=${receiver.url}`, 4);
    return { status: 200 };
  });
  look();
  await receiver.until(1);
  change(store, 'd');
  await expect.poll(checkpoint, PATIENT).toBe(4);
  look();
  change(store, 'e');
  look();
  await expect.poll(checkpoint, PATIENT).toBe(5);
  expect(tagsOf(receiver)).toEqual([['a', 'b', 'c'], ['e']]);
});

it('purges all answers if changes were removed', async () => {
  const { store, receiver, look, checkpoint } = await startSender();
  for (const name of 'abcde') change(store, name);
  store.prune(2);
  look();
  await expect.poll(checkpoint, PATIENT).toBe(5);
  // A receiver with its own names of tags has no tag for all answers.
  expect(tagsOf(receiver)).toEqual([['all', 'notes']]);
});

it('purges one tag instead of all if all answers have it', async () => {
  const { store, receiver, look, checkpoint } = await startSender();
  change(store, 'a', 'b');
  change(store, 'all');
  look();
  await expect.poll(checkpoint, PATIENT).toBe(2);
  expect(tagsOf(receiver)).toEqual([['all']]);
});

const AGAIN_AFTER_MS = 2_000;

it('purges each change a second time, counted from the first', takesMinutes('purging twice'), async () => {
  const searches = createSearches();
  const sender = await startSender({}, searches, 2 * AGAIN_AFTER_MS);
  const { store, receiver, look, lose, checkpoint, checkpointAgain } = sender;
  change(store, 'a');
  look();
  // Searches do not show the change yet, so it is not purged.
  await delay(1.5 * AGAIN_AFTER_MS);
  expect(tagsOf(receiver)).toEqual([]);
  const times: number[] = [];
  receiver.answer(() => {
    times.push(performance.now());
    return { status: 200 };
  });
  searches.show(position);
  await expect.poll(checkpoint, PATIENT).toBe(1);
  await expect.poll(checkpointAgain, PATIENT).toBe(1);
  expect(tagsOf(receiver)).toEqual([['a'], ['a']]);
  const [first = 0, second = 0] = times;
  expect(second - first).toBeGreaterThan(1.9 * AGAIN_AFTER_MS);
  lose();
  look();
  const everything = ['all', 'notes'];
  await expect.poll(() => tagsOf(receiver).slice(2), PATIENT).toEqual([everything, everything]);
});

it('purges a second time after a restart in between, what came meanwhile too', async () => {
  // The restart comes before the second purge, also on a slow machine.
  const sender = await startSender({}, undefined, 3 * AGAIN_AFTER_MS);
  const { store, receiver, look, restart, checkpoint, checkpointAgain } = sender;
  change(store, 'a');
  look();
  await expect.poll(checkpoint, PATIENT).toBe(1);
  change(store, 'b');
  look();
  await expect.poll(checkpoint, PATIENT).toBe(2);
  expect(checkpointAgain()).toBeUndefined();
  await restart();
  await expect.poll(checkpointAgain, PATIENT).toBe(2);
  expect(tagsOf(receiver)).toEqual([['a'], ['b'], ['a', 'b']]);
});
