import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createReadingWorkers } from '../../../services/supervisor/reading-workers.ts';
import { createMemoryWorker, type MemoryWorker } from '../../support/memory-worker.ts';

/** Time between two looks. A worker that sends no sign of life for eight looks is killed. */
const LOOK_MS = 250;
const LOOKS = 8;
/** Limit for passing requests on to the next workers. */
const LEAVE_MS = 5_000;
const DRAIN_MS = 10_000;
/** If a worker ends after so long, its start is not the cause. */
const SETTLED_MS = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

function start(count = 1) {
  const started: MemoryWorker[] = [];
  const reading = createReadingWorkers({
    start() {
      const worker = createMemoryWorker();
      started.push(worker);
      return worker;
    },
    reportCrash: () => {},
    isStopping: () => false,
    drainMs: () => DRAIN_MS,
  });
  const leading = createMemoryWorker();
  reading.want({ count, graph: 'graph-1.db' }, leading);
  return { reading, leading, started };
}

it(`kills a worker that sends no heartbeat for more than ${LOOKS} checks`, async () => {
  const { reading, leading, started } = start();
  const [worker] = started as [MemoryWorker];
  reading.join(worker);
  const say = () => {
    reading.heard(worker, 1n);
    reading.heard(leading, 1n);
  };
  for (let n = 0; n < 4; n++) {
    say();
    await pass(LOOKS * LOOK_MS);
  }
  expect([worker, leading].map((one) => one.isKilled())).toEqual([false, false]);
  reading.heard(leading, 1n);
  await pass(LOOK_MS);
  expect([worker, leading].map((one) => one.isKilled())).toEqual([true, false]);
});

it('kills a worker that is alive and does not show the position that a write waits for', async () => {
  const { reading, leading, started } = start();
  const [worker] = started as [MemoryWorker];
  reading.join(worker);
  reading.heard(worker, 4n);
  const shown = reading.shown(5n);
  for (let n = 0; n <= LOOKS; n++) {
    expect(worker.isKilled()).toBe(false);
    for (const one of [worker, leading]) reading.heard(one, 4n);
    await pass(LOOK_MS);
  }
  expect([worker.isKilled(), leading.isKilled()]).toEqual([true, false]);
  await shown;
});

it('kills a retired worker that does not pass its requests on in time', async () => {
  const { reading, started } = start(2);
  const [left, silent] = started as [MemoryWorker, MemoryWorker];
  const retired = reading.retire();
  reading.left(left);
  await pass(LEAVE_MS - 1);
  expect(started.map((one) => one.isKilled())).toEqual([false, false]);
  await pass(1);
  await retired;
  expect(started.map((one) => one.isKilled())).toEqual([false, true]);
  expect(silent.heard.map(({ kind }) => kind)).toEqual(['stop']);
  // The other one answers its last requests.
  await pass(DRAIN_MS - 1);
  expect(left.isKilled()).toBe(false);
  await pass(1);
  expect(left.isKilled()).toBe(true);
});

it('starts a worker again at once if it had served for a minute, and later each time if not', async () => {
  const { started } = start();
  const endAfter = async (ms: number) => {
    await pass(ms);
    started.at(-1)?.ends();
    await pass(0);
    return started.length;
  };
  expect(await endAfter(0)).toBe(2);
  // This worker ended right after its start.
  expect(await endAfter(0)).toBe(2);
  await pass(50);
  expect(started).toHaveLength(3);
  expect(await endAfter(SETTLED_MS - 1)).toBe(3);
  await pass(100);
  expect(started).toHaveLength(4);
  expect(await endAfter(SETTLED_MS)).toBe(5);
});

it('starts each worker once if the same generation is wanted again before a crashed worker was started again', async () => {
  const { reading, leading, started } = start();
  for (const _end of ['at its start', 'again']) {
    started.at(-1)?.ends();
    await pass(0);
  }
  // The third start waits. A hand-over begins, and fails.
  await reading.retire();
  reading.want({ count: 1, graph: 'graph-1.db' }, leading);
  expect(started).toHaveLength(3);
  await pass(10_000);
  expect(started).toHaveLength(3);
});
