import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createAnswers } from '../../shared/read-index/embedded/answers.ts';
import { rest } from '../../shared/turns/slice.ts';
import { createTurns } from '../../shared/turns/turns.ts';
import { BOOK } from '../contract/read-index-library.ts';
import { taggedBooks } from '../support/tagged-books.ts';

const SEARCH = {
  type: BOOK,
  world: 'published',
  sort: [{ path: [], field: 'title', direction: 'asc' }],
  from: 0,
  size: 50,
  withTotal: true,
} as const;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Creates an index whose content is one number, and answers with a given number of slices. */
function counter() {
  let time = 0;
  const deferred: (() => void)[] = [];
  const turns = createTurns({
    now: () => time,
    defer: (turn) => void deferred.push(turn),
    ...{ steps: 1, sliceMs: 1, graceMs: 1 },
  });
  const answers = createAnswers({ turns, limit: 10_000, patienceMs: 50, now: () => time });
  let value = 0;
  const part = (slices: number) => () => {
    let left = slices;
    const begun = value;
    return () => {
      while (left-- > 0) {
        time++;
        rest(1);
      }
      return [begun, value];
    };
  };
  return {
    answers,
    part,
    set: (to: number) =>
      answers.change(() => {
        value = to;
      }),
    value: () => value,
    pass: (ms: number) => {
      time += ms;
      return vi.advanceTimersByTimeAsync(ms);
    },
    async turn(times = 1) {
      for (let i = 0; i < times; i++) {
        for (const each of deferred.splice(0)) each();
        await vi.advanceTimersByTimeAsync(0);
      }
    },
  };
}

it('applies a change at once when no answer is in progress', () => {
  const { set, value } = counter();
  void set(1);
  expect(value()).toBe(1);
});

it('a change that fails after it waited fails for its author, not for the answer', async () => {
  const { answers, part, turn } = counter();
  const answer = answers.part(undefined, part(5));
  const failed = new Error('the change failed');
  const changed = answers.change(() => {
    throw failed;
  });
  const rejected = expect(changed).rejects.toBe(failed);
  await turn(10);
  expect(await answer).toEqual([0, 0]);
  await rejected;
});

it('makes a change wait for the answer in progress, then applies it at once', async () => {
  const { answers, part, set, value, turn } = counter();
  const answer = answers.part(undefined, part(5));
  const changed = set(1);
  await turn();
  expect(value()).toBe(0);
  await turn(10);
  expect(await answer).toEqual([0, 0]);
  await changed;
  expect(value()).toBe(1);
});

it('applies changes after 50 ms, in order, and restarts the answer', async () => {
  const { answers, part, set, value, turn, pass } = counter();
  let tries = 0;
  const answer = answers.answer(async (scope) => {
    tries++;
    const first = await answers.part(scope, part(3));
    return [...first, ...(await answers.part(scope, part(200)))];
  });
  await turn(10);
  const changed = [set(1), set(2)];
  await pass(49);
  expect(value()).toBe(0);
  await pass(1);
  await Promise.all(changed);
  expect(value()).toBe(2);
  await turn(500);
  expect(await answer).toEqual([2, 2, 2, 2]);
  expect(tries).toBe(2);
});

it('waits 250 ms for an answer that was restarted three times, and 50 ms for the next one', async () => {
  const { answers, part, set, value, turn, pass } = counter();
  const answer = answers.part(undefined, part(2_000));
  let changes = 0;
  /** Returns how long the next change waits. */
  const waitOf = async () => {
    void set(++changes);
    let waited = 0;
    for (; value() !== changes; waited++) {
      await pass(1);
      await turn();
    }
    return waited;
  };
  const waits: number[] = [];
  for (let i = 0; i < 5; i++) waits.push(await waitOf());
  expect(waits).toEqual([50, 50, 50, 250, 50]);
  await turn(5_000);
  expect(await answer).toEqual([5, 5]);
});

it('refuses an answer with a 503 if changes never let it finish', async () => {
  const { answers, part, set, turn, pass } = counter();
  const answer = answers.part(undefined, part(9_000)).catch((error: unknown) => error);
  for (let i = 0; i < 60; i++) {
    void set(i);
    await turn(200);
    await pass(250);
  }
  await turn(10_000);
  expect(await answer).toMatchObject({ code: 'busy' });
});

it('restarts an answer of two requests when rows change between them', async () => {
  const turns = createTurns({ sliceMs: 1, graceMs: 1, steps: 1, now: lookAtClock() });
  const index = await taggedBooks({ turns });
  const search = {
    ...SEARCH,
    query: { kind: 'text', match: 'contains', field: 'title', value: '7', fold: true },
  } as const;
  vi.useRealTimers();
  const answer = index.answer(async (scope) => {
    const { hits, total } = await index.search({ ...search, answer: scope, traversed: true });
    const tags = {
      rowSet: { type: BOOK, path: [] },
      world: 'published',
      attribute: 'tags',
      limit: 10_000,
    } as const;
    const { counts } = await index.traverse({ ...tags, parents: hits.rows, answer: scope });
    return { total, counts: counts.length };
  });
  await index.apply({
    position: 2n,
    rows: [{ type: BOOK, version: 'published', key: 7, row: null }],
    links: [],
  });
  await index.close();
  const expected = await index.search(search);
  expect(await answer).toMatchObject({ total: expected.total, counts: expected.hits.rows.length });
});

function lookAtClock(): () => number {
  let time = 0;
  return () => {
    time += 0.2;
    return time;
  };
}
