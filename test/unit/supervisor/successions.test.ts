import { expect, it, onTestFinished, vi } from 'vitest';
import type { Succession } from '../../../services/supervisor/protocol.ts';
import { createSuccessions } from '../../../services/supervisor/successions.ts';
import { createMemoryWorker, type MemoryWorker } from '../../support/memory-worker.ts';

const succession = (generation: number): Succession => ({
  generation,
  changesTypes: false,
  enterMs: 30_000,
  recent: [],
});

/** A server whose worker hands over to a generation. */
function handsOver(generation: number) {
  const from = createMemoryWorker();
  const started: MemoryWorker[] = [];
  const successions = createSuccessions({
    serving: () => from,
    isStopping: () => false,
    drainMs: () => 0,
    start() {
      const next = createMemoryWorker();
      started.push(next);
      return next;
    },
    retireReaders: async () => {},
    entered: () => {},
    lost: () => {},
  });
  const end = successions.replace(from, succession(generation)).then(
    () => 'entered',
    (error: Error) => error.message,
  );
  return { from, next: () => started.at(-1), successions, end };
}

it('a cancelled rebuild ends only the hand-over to its own generation, which says why', async () => {
  const { next, successions, end } = handsOver(1);
  await expect.poll(next).toBeDefined();
  await successions.abandon({ generation: 2, reason: 'an operator cancelled the rebuild' });
  expect(next()?.isKilled()).toBe(false);
  await successions.abandon({ generation: 1, reason: 'another process is the leader' });
  expect(next()?.isKilled()).toBe(true);
  expect(await end).toBe('generation 1 is not served: another process is the leader');
});

it('an abandoned hand-over ends without a generation and a reason, as a worker of an earlier release asks for it', async () => {
  const { next, successions, end } = handsOver(1);
  await expect.poll(next).toBeDefined();
  await successions.abandon({});
  expect(await end).toBe('generation 1 is not served: the switch was cancelled');
});

it('once a worker steps down, its own rebuild cannot be cancelled, and another one can', async () => {
  const { from, next, successions } = handsOver(1);
  await expect.poll(next).toBeDefined();
  next()?.says('ready');
  await expect.poll(() => from.heard.map(({ kind }) => kind)).toEqual(['yield']);
  await expect(successions.abandon({ generation: 1 })).rejects.toThrow('has begun: it ends in a moment');
  await successions.abandon({ generation: 2 });
  expect(next()?.isKilled()).toBe(false);
});

it('a worker that the supervisor ends because it is late does not count as ended by a lack of memory', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { from, next, end } = handsOver(1);
  await vi.advanceTimersByTimeAsync(0);
  next()?.says('ready');
  from.says('yielded');
  await vi.advanceTimersByTimeAsync(30_000);
  expect(next()?.isKilled()).toBe(true);
  expect(await end).toBe(
    'generation 1 is not served: the process that should serve it did not become ready within 30 s: see the log of the server',
  );
});
