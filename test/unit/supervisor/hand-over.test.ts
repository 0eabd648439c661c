import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { type HandOverEnd, handOver } from '../../../services/supervisor/hand-over.ts';
import { createMemoryWorker } from '../../support/memory-worker.ts';

/** Limit for stepping down. */
const YIELD_MS = 5_000;
const ENTER_MS = 30_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
});

function start() {
  const [from, next] = [createMemoryWorker(), createMemoryWorker()];
  let end: HandOverEnd | undefined;
  const ended = handOver(from, next, ENTER_MS, async () => true).then((found) => {
    end = found;
  });
  return { from, next, ended, end: () => end };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const kinds = ({ heard }: ReturnType<typeof createMemoryWorker>) => heard.map(({ kind }) => kind);

it('a worker that does not step down within 5 s is killed, and the next one enters', async () => {
  const { from, next, ended, end } = start();
  next.says('ready');
  await pass(YIELD_MS - 1);
  expect([kinds(from), from.isKilled(), kinds(next)]).toEqual([['yield'], false, []]);
  await pass(1);
  expect([from.isKilled(), kinds(next)]).toEqual([true, ['enter']]);
  next.says('entered');
  await ended;
  expect([end(), next.isKilled()]).toEqual(['entered', false]);
});

it('the worker that steps down learns the name of the next one', async () => {
  const { from, next } = start();
  const named = { owner: 'next', address: 'http://127.0.0.1:1337', forMs: ENTER_MS };
  next.says('ready', named);
  await pass(0);
  expect(from.heard).toEqual([{ kind: 'yield', next: named }]);
});

it('a worker that does not enter within its limit is killed', async () => {
  const { from, next, ended, end } = start();
  next.says('ready');
  from.says('yielded');
  await pass(ENTER_MS - 1);
  expect([kinds(next), next.isKilled(), end()]).toEqual([['enter'], false, undefined]);
  await pass(1);
  await ended;
  expect([end(), next.isKilled(), from.isKilled()]).toEqual(['late', true, false]);
});

it('a worker has any amount of time to become ready, and the serving worker is not asked to step down before', async () => {
  const { from, next, end } = start();
  await pass(100 * ENTER_MS);
  expect([kinds(from), kinds(next), end()]).toEqual([[], [], undefined]);
  next.ends();
  await pass(0);
  expect([end(), from.isKilled()]).toEqual(['refused', false]);
});
