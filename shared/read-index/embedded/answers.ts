import type { AnswerTerms, Task, TurnStep, Turns } from '../../turns/turns.ts';
import type { AnswerScope } from '../read-index.ts';

/** Answers in progress, and the changes that arrive in the meantime. */
export type Answers = {
  /** Gives an answer one state of the index (see `ReadIndex.answer`). */
  answer<Result>(work: (answer: AnswerScope) => Promise<Result>, terms?: AnswerTerms): Promise<Result>;
  /** Runs one part of an answer, or a whole answer without a scope. */
  part<Result>(scope: AnswerScope | undefined, begin: () => TurnStep<Result>): Promise<Result>;
  /**
   * Changes the index as soon as no answer is in progress, or after a time limit. Changes are applied in the order of the calls. Rejects if
   * a change fails.
   */
  change(apply: () => void): Promise<void>;
};

export type AnswersOptions = {
  readonly turns: Turns;
  /** Milliseconds of work on one answer. */
  readonly limit: number;
  /** Milliseconds that a change waits for answers. */
  readonly patienceMs: number;
  readonly now: () => number;
};

/**
 * An answer in progress, on one state of the index. Its mark is a member with an ordinary name, because a symbol costs each read a
 * microsecond.
 */
type Attempt = {
  readonly isAttempt: true;
  readonly task: Task;
  /** Index among the started attempts; -1: not started, or finished. */
  slot: number;
  /** Number of the index's state in the first part. */
  state: number;
  /** Number of finished parts. Further parts must see the same state. */
  parts: number;
  over: boolean;
};

function isAttempt(scope: AnswerScope | undefined): scope is Attempt {
  return scope !== undefined && (scope as Partial<Attempt>).isAttempt === true;
}

/** Creates a set of attempts. JavaScript's `Set` gives each member a hash, which costs too much for objects that live some microseconds. */
function createBegun() {
  let attempts: Attempt[] = [];
  return {
    size: () => attempts.length,
    some: (isMatch: (attempt: Attempt) => boolean) => attempts.some(isMatch),
    add(attempt: Attempt): void {
      if (attempt.slot < 0) attempt.slot = attempts.push(attempt) - 1;
    },
    /** Removes an attempt. Returns false if it was not a member. */
    remove(attempt: Attempt): boolean {
      const { slot } = attempt;
      if (slot < 0) return false;
      const last = attempts.pop() as Attempt;
      if (last !== attempt) {
        attempts[slot] = last;
        last.slot = slot;
      }
      attempt.slot = -1;
      return true;
    },
    clear(): void {
      for (const attempt of attempts) attempt.slot = -1;
      attempts = [];
    },
  };
}

/** Thrown if the state has changed since an answer began. The answer starts again. */
const CHANGED: Error = Object.freeze(new Error('the index has changed under an answer'));

/** Number of the last state, over all indices. No two indices share a number. */
let states = 0;

/** A change waits five times as long for an answer that was restarted this often. Such waits take at most a tenth of the time. */
const STUBBORN_RESTARTS = 3;
const STUBBORN_PATIENCE = 5;
const STUBBORN_SHARE = 10;

/**
 * Gives each answer one state of the index, although it runs in slices. A change waits until no answer is in progress, for at most
 * `patienceMs`. Then it is applied, and answers in progress start again. They keep lasting results, such as the dictionary of a column.
 */
export function createAnswers({ turns, limit, patienceMs, now }: AnswersOptions): Answers {
  let state = ++states;
  const begun = createBegun();
  const waiting: (() => void)[] = [];
  let changed: PromiseWithResolvers<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let longAgain = 0;

  /** Never throws, because the caller may be an answer: a failure of a change is a failure of those who changed the index. */
  const applyWaiting = () => {
    clearTimeout(timer);
    const done = changed;
    changed = undefined;
    try {
      for (const apply of waiting.splice(0)) apply();
      done?.resolve();
    } catch (error) {
      done?.reject(error);
    }
  };

  const finish = (attempt: Attempt) => {
    attempt.over = true;
    if (begun.remove(attempt) && begun.size() === 0 && waiting.length > 0) applyWaiting();
  };

  /** Returns the milliseconds for which the next change waits for answers in progress. */
  const delayMs = (): number => {
    const isStubborn = begun.some(({ task }) => task.restarts >= STUBBORN_RESTARTS);
    if (!isStubborn || now() < longAgain) return patienceMs;
    const long = patienceMs * STUBBORN_PATIENCE;
    longAgain = now() + long * STUBBORN_SHARE;
    return long;
  };

  const run = <Result>(attempt: Attempt, begin: () => TurnStep<Result>): Result | Promise<Result> =>
    turns.run(attempt.task, () => {
      if (attempt.over) throw CHANGED;
      if (attempt.parts === 0) attempt.state = state;
      begun.add(attempt);
      const step = begin();
      return () => {
        if (attempt.state !== state) throw CHANGED;
        const result = step();
        attempt.parts++;
        return result;
      };
    });

  const answer = async <Result>(
    task: Task,
    work: (attempt: Attempt) => Promise<Result> | Result,
  ): Promise<Result> => {
    for (;;) {
      const attempt: Attempt = { isAttempt: true, task, slot: -1, state, parts: 0, over: false };
      try {
        return await work(attempt);
      } catch (error) {
        if (error !== CHANGED) throw error;
        task.restarts++;
      } finally {
        finish(attempt);
      }
    }
  };

  return {
    answer: (work, terms) => answer(turns.task(limit, terms), work),
    async part(scope, begin) {
      if (isAttempt(scope)) return run(scope, begin);
      return answer(turns.task(limit), (own) => run(own, begin));
    },
    change(apply) {
      const change = () => {
        state = ++states;
        begun.clear();
        apply();
      };
      if (begun.size() === 0 && waiting.length === 0) {
        change();
        return Promise.resolve();
      }
      waiting.push(change);
      if (changed === undefined) {
        changed = Promise.withResolvers<void>();
        timer = setTimeout(applyWaiting, delayMs());
      }
      return changed.promise;
    },
  };
}
