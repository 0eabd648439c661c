import { expect, it } from 'vitest';
import { reporting } from '../../../services/outbox/reporting.ts';
import { untilShown } from '../../../services/outbox/until-shown.ts';

it('waits for half a second at a time until reads show a position', async () => {
  const asked: unknown[] = [];
  const shows = async (position: bigint, timeoutMs: number) => {
    asked.push([position, timeoutMs]);
    return asked.length === 3;
  };
  expect(await untilShown(shows, 7n, new AbortController().signal)).toBe(true);
  expect(asked).toEqual(Array(3).fill([7n, 500]));
});

it('ends when it is aborted, also between two waits', async () => {
  const ending = new AbortController();
  let asked = 0;
  const shows = async () => {
    asked += 1;
    // The pause after this answer is longer.
    setTimeout(() => ending.abort(), 1);
    return false;
  };
  expect(await untilShown(shows, 7n, ending.signal)).toBe(false);
  expect(await untilShown(async () => true, 7n, ending.signal)).toBe(false);
  expect(asked).toBe(1);
});

it('reports the first failure in a row, and no lock', () => {
  const failures: unknown[] = [];
  let problem: Error | undefined = new Error('the disk is full');
  const work = reporting(
    (error) => failures.push(error),
    () => {
      if (problem !== undefined) throw problem;
    },
  );
  work();
  work();
  expect(failures).toEqual([problem]);
  problem = undefined;
  work();
  problem = Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 });
  work();
  expect(failures).toHaveLength(1);
  problem = new Error('the disk is full again');
  work();
  expect(failures).toHaveLength(2);
});
