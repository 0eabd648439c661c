import { describe, expect, it } from 'vitest';
import { countSteps, rest, SLICE_OVER } from '../../shared/turns/slice.ts';
import { createTurns, type Task, type TurnStep, type TurnsOptions } from '../../shared/turns/turns.ts';

/** Creates a thread whose clock only advances with `work`. The test turns its event loop. */
function thread(options: Partial<TurnsOptions> = {}) {
  let time = 0;
  const deferred: (() => void)[] = [];
  const turns = createTurns({
    ...{ now: () => time, defer: (turn: () => void) => void deferred.push(turn), steps: 1 },
    ...{ sliceMs: 4, graceMs: 4, ...options },
  });
  /** Returns work of so many milliseconds. A slice can end after each. */
  const work = (milliseconds: number, done: () => void = () => {}) => {
    const begin = (): TurnStep<number> => {
      let left = milliseconds;
      return () => {
        for (; left > 0; left--) {
          rest(1);
          time++;
        }
        done();
        return milliseconds;
      };
    };
    return begin;
  };
  /** The longest time between two turns of the event loop. */
  let longest = 0;
  const turn = (): boolean => {
    const before = time;
    for (const each of deferred.splice(0)) each();
    longest = Math.max(longest, time - before);
    return deferred.length > 0;
  };
  return {
    turns,
    work,
    turn,
    untilIdle() {
      while (turn());
    },
    pass: (ms: number) => {
      time += ms;
    },
    longest: () => longest,
    time: () => time,
  };
}

const settled = async (promise: unknown): Promise<unknown> => {
  try {
    return await promise;
  } catch (error) {
    return error;
  }
};

describe('turns', () => {
  it('do work that fits into a slice at once', () => {
    const { turns, work } = thread();
    expect(turns.run(turns.task(100), work(3))).toBe(3);
  });

  it('do the rest in slices, and let the event loop run after each', async () => {
    const { turns, work, untilIdle, longest, time } = thread();
    const result = turns.run(turns.task(100), work(50));
    expect(time()).toBe(4);
    untilIdle();
    expect(await result).toBe(50);
    expect(time()).toBe(50);
    expect(longest()).toBeLessThanOrEqual(8);
  });

  it('give new work its first slice before old work gets another', async () => {
    const { turns, work, turn, untilIdle } = thread();
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    const heavy = [1, 2, 3].map((n) => turns.run(turns.task(1_000), work(100, note(`heavy ${n}`))));
    turn();
    const light = turns.run(turns.task(1_000), work(0, note('light')));
    turn();
    expect(order).toEqual(['light']);
    untilIdle();
    await Promise.all([light, ...heavy]);
    expect(order).toHaveLength(4);
  });

  it('let work that has used less time overtake work that has used more', async () => {
    const { turns, work, turn, untilIdle } = thread();
    const order: string[] = [];
    const long = turns.run(
      turns.task(10_000),
      work(3_000, () => order.push('long')),
    );
    for (let i = 0; i < 200; i++) turn();
    const short = turns.run(
      turns.task(10_000),
      work(200, () => order.push('short')),
    );
    untilIdle();
    await Promise.all([long, short]);
    expect(order).toEqual(['short', 'long']);
  });

  it('begin no more work in one turn of the event loop than fits into a slice', () => {
    const { turns, work, time } = thread();
    for (let i = 0; i < 20; i++) void turns.run(turns.task(100), work(3));
    expect(time()).toBeLessThanOrEqual(8);
  });

  it('count the work of a task without its waits, and end it at its limit', async () => {
    const { turns, work, untilIdle } = thread();
    const waiting: Task = turns.task(50);
    const others = [1, 2, 3, 4].map(() => turns.run(turns.task(1_000), work(40)));
    const within = turns.run(waiting, work(45));
    untilIdle();
    expect(await within).toBe(45);
    await Promise.all(others);
    const refused = settled(turns.run(waiting, work(45)));
    untilIdle();
    expect(await refused).toMatchObject({
      code: 'query-too-expensive',
      message: expect.stringContaining('more than 50 ms'),
    });
    expect(waiting.spent).toBeLessThanOrEqual(60);
  });

  it('end work that cannot pause at its limit as well', () => {
    const { turns, pass } = thread();
    const stubborn = () => () => {
      for (;;) {
        countSteps(1);
        pass(1);
      }
    };
    expect(() => turns.run(turns.task(30), stubborn)).toThrow('it takes more than 30 ms');
  });

  it('refuse an answer that is not ready after ten times its limit, with a 503', async () => {
    const { turns, work, turn, pass } = thread();
    const result = settled(turns.run(turns.task(500), work(100)));
    turn();
    pass(4_000);
    turn();
    pass(1_000);
    turn();
    expect(await result).toMatchObject({ code: 'busy', message: expect.stringContaining('took too long') });
  });

  it('stop work for a client that does not wait any more', async () => {
    const { turns, work, turn, untilIdle, time } = thread();
    let isWanted = true;
    const result = settled(turns.run(turns.task(1_000, { isWanted: () => isWanted }), work(500)));
    turn();
    isWanted = false;
    untilIdle();
    expect(await result).toMatchObject({ code: 'client-gone' });
    expect(time()).toBeLessThan(20);
  });

  it('have at most `atOnce` pieces of work in progress, and restart the others', async () => {
    const { turns, work, untilIdle } = thread({ atOnce: 3 });
    let underWay = 0;
    let most = 0;
    const counted = (): TurnStep<number> => {
      const step = work(20)();
      let isCounted = false;
      return () => {
        if (!isCounted) underWay++;
        isCounted = true;
        most = Math.max(most, underWay);
        const result = step();
        underWay--;
        return result;
      };
    };
    let begun = 0;
    const begin = () => {
      begun++;
      return counted();
    };
    const all = Array.from({ length: 10 }, () => turns.run(turns.task(1_000), begin));
    untilIdle();
    expect(await Promise.all(all)).toEqual(Array(10).fill(20));
    // Restarted work was counted at each start.
    expect(most - (begun - 10)).toBeLessThanOrEqual(3);
    expect(begun).toBeGreaterThan(10);
  });

  it('refuse more work than may wait, with a 503 that says so', async () => {
    const { turns, work, untilIdle } = thread({ atOnce: 2, waiting: 5 });
    const all = Array.from({ length: 20 }, () => {
      try {
        return settled(turns.run(turns.task(1_000), work(10)));
      } catch (error) {
        return error;
      }
    });
    untilIdle();
    const refused = (await Promise.all(all)).filter((each) => each !== 10);
    expect(refused.length).toBeGreaterThan(5);
    for (const each of refused)
      expect(each).toMatchObject({ code: 'busy', message: expect.stringContaining('wait') });
  });

  it('refuse no work that must be answered, however much waits', async () => {
    const { turns, work, untilIdle } = thread({ atOnce: 2, waiting: 5 });
    const all = Array.from({ length: 50 }, () => turns.run(turns.task(1_000, { isOwed: true }), work(10)));
    untilIdle();
    expect(await Promise.all(all)).toEqual(Array.from({ length: 50 }, () => 10));
  });

  it('run restarted work first', async () => {
    const { turns, work, turn, untilIdle } = thread();
    const order: string[] = [];
    const restarted: Task = { ...turns.task(1_000), spent: 500, restarts: 2 };
    const all = [turns.task(1_000), restarted].map((task, n) =>
      turns.run(
        task,
        work(40, () => order.push(n === 0 ? 'first' : 'restarted')),
      ),
    );
    turn();
    untilIdle();
    await Promise.all(all);
    expect(order).toEqual(['restarted', 'first']);
  });

  it('reject with the error of the work', async () => {
    const { turns, work, untilIdle } = thread();
    const failing = () => {
      throw new Error('broken');
    };
    expect(() => turns.run(turns.task(10), () => failing)).toThrow('broken');
    const late = settled(turns.run(turns.task(100), work(10, failing)));
    untilIdle();
    expect(await late).toMatchObject({ message: 'broken' });
    expect(await late).not.toBe(SLICE_OVER);
  });
});
