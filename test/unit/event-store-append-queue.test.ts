import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Append } from '../../shared/event-store/event-codec.ts';
import { createAppendQueue } from '../../shared/event-store/sqlite/append-queue.ts';
import type { AppendOutcome } from '../../shared/event-store/sqlite/commit-appends.ts';

const append = (stream: string, data = '{}'): Append => ({
  stream,
  expected: 'any',
  events: [{ id: '', type: '', data, metadata: '', digest: '' }],
});
const appended = (n: number): AppendOutcome => ({
  kind: 'appended',
  revision: BigInt(n),
  position: BigInt(n),
});

/** Creates a queue that records the streams of each commit's appends. */
const queueOf = (outcome: (n: number) => AppendOutcome = appended) => {
  const commits: string[][] = [];
  const queue = createAppendQueue(async (appends) => {
    commits.push(appends.map(({ stream }) => stream));
    return appends.map((_, n) => outcome(n));
  });
  return { queue, commits };
};
const names = (count: number) => Array.from({ length: count }, (_, n) => `s${n}`);

test('appends of one turn go into one commit, each with its own outcome; later ones into the next', async () => {
  const { queue, commits } = queueOf((n) => (n === 1 ? { kind: 'refused', reason: 'no' } : appended(n)));
  const results = await Promise.allSettled(names(3).map((name) => queue.append(append(name))));
  expect(results).toMatchObject([
    { value: { revision: 0n } },
    { reason: { message: 'no' } },
    { value: { revision: 2n } },
  ]);
  await queue.append(append('later'));
  expect(commits).toEqual([['s0', 's1', 's2'], ['later']]);
});

test('a commit is bounded in appends and in size, order is kept', async () => {
  const many = queueOf();
  await Promise.all(names(2_500).map((name) => many.queue.append(append(name))));
  expect(many.commits.map((commit) => commit.length)).toEqual([1_024, 1_024, 452]);
  expect(many.commits.flat()).toEqual(names(2_500));
  const big = queueOf();
  await Promise.all(names(5).map((name) => big.queue.append(append(name, 'x'.repeat(3_000_000)))));
  expect(big.commits.map((commit) => commit.length)).toEqual([3, 2]);
});

test('a commit that fails rejects its appends and no others', async () => {
  let failing = true;
  const queue = createAppendQueue(async (appends) => {
    if (failing) throw new Error('disk full');
    return appends.map((_, n) => appended(n));
  });
  const failed = await Promise.allSettled([queue.append(append('a')), queue.append(append('b'))]);
  expect(failed).toMatchObject([{ reason: { message: 'disk full' } }, { reason: { message: 'disk full' } }]);
  failing = false;
  expect(await queue.append(append('c'))).toMatchObject({ kind: 'appended' });
});

test('an append during a commit waits and is in the next commit, for any number of turns', async () => {
  const commits: string[][] = [];
  let underWay = 0;
  const queue = createAppendQueue(async (appends) => {
    expect(++underWay).toBe(1);
    commits.push(appends.map(({ stream }) => stream));
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    underWay--;
    return appends.map((_, n) => appended(n));
  });
  const results: Promise<unknown>[] = [queue.append(append('s0'))];
  for (const name of ['s1', 's2', 's3']) {
    await nextTurn();
    results.push(queue.append(append(name)));
  }
  await Promise.all(results);
  expect(commits).toEqual([['s0'], ['s1', 's2', 's3']]);
});

test('drain resolves when all that waits is committed', async () => {
  const { queue, commits } = queueOf();
  const pending = names(1_500).map((name) => queue.append(append(name)));
  await queue.drain();
  expect(commits.flat()).toHaveLength(1_500);
  await Promise.all(pending);
  await queue.drain();
});
