import type { AnswerTerms, Step, Task, Turns } from '../../turns/turns.ts';
import type { AnswerScope } from '../read-index.ts';

/** Answers under way, and the changes that come meanwhile. */
export type Answers = {
  /** See `ReadIndex.answer`. */
  answer<Result>(work: (answer: AnswerScope) => Promise<Result>, terms?: AnswerTerms): Promise<Result>;
  /** One part of an answer, or all of one that no scope is given for. */
  part<Result>(scope: AnswerScope | undefined, begin: () => Step<Result>): Promise<Result>;
  /** Changes the index as soon as no answer is under way, or has been waited for long enough. In order of the calls. */
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

/** An answer in the making, on one state of the index. Its mark is a plain name: a symbol costs each read a microsecond. */
type Attempt = {
  readonly isAttempt: true;
  readonly task: Task;
  /** Among those that have begun; -1: it has not, or is not any more. */
  place: number;
  /** The state of its first part. */
  state: number;
  /** Parts that are done: what comes must be of the same state. */
  parts: number;
  over: boolean;
};

function isAttempt(scope: AnswerScope | undefined): scope is Attempt {
  return scope !== undefined && (scope as Partial<Attempt>).isAttempt === true;
}

/** A set of attempts. JavaScript's own gives each member a hash, which costs too much for objects that live some microseconds. */
function createBegun() {
  let attempts: Attempt[] = [];
  return {
    size: () => attempts.length,
    some: (holds: (attempt: Attempt) => boolean) => attempts.some(holds),
    add(attempt: Attempt): void {
      if (attempt.place < 0) attempt.place = attempts.push(attempt) - 1;
    },
    /** False: it was not among them. */
    remove(attempt: Attempt): boolean {
      const { place } = attempt;
      if (place < 0) return false;
      const last = attempts.pop() as Attempt;
      if (last !== attempt) {
        attempts[place] = last;
        last.place = place;
      }
      attempt.place = -1;
      return true;
    },
    clear(): void {
      for (const attempt of attempts) attempt.place = -1;
      attempts = [];
    },
  };
}

/** Thrown where an answer meets another state than it began with. It is begun anew. */
const CHANGED: Error = Object.freeze(new Error('the index has changed under an answer'));

/** States of all indices: an answer never takes one's for another's. */
let states = 0;

/** An answer that was begun anew so often is waited for longer, where that delays changes for a tenth of the time at most. */
const STUBBORN_RESTARTS = 3;
const STUBBORN_PATIENCE = 5;
const STUBBORN_SHARE = 10;

/**
 * Keeps each answer on one state of the index though it is worked on in slices. Changes wait until no answer is under way, for
 * `patienceMs` at most. Then they are made, and answers that had begun are begun anew; what they had made for good, as the
 * dictionary of a column, is not lost.
 */
export function createAnswers({ turns, limit, patienceMs, now }: AnswersOptions): Answers {
  let state = ++states;
  const begun = createBegun();
  const waiting: (() => void)[] = [];
  let changed: PromiseWithResolvers<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let longAgain = 0;

  const applyWaiting = () => {
    clearTimeout(timer);
    const done = changed;
    changed = undefined;
    for (const apply of waiting.splice(0)) apply();
    done?.resolve();
  };

  const finish = (attempt: Attempt) => {
    attempt.over = true;
    if (begun.remove(attempt) && begun.size() === 0 && waiting.length > 0) applyWaiting();
  };

  /** How long the next change waits for the answers that are under way. */
  const patience = (): number => {
    const isStubborn = begun.some(({ task }) => task.restarts >= STUBBORN_RESTARTS);
    if (!isStubborn || now() < longAgain) return patienceMs;
    const long = patienceMs * STUBBORN_PATIENCE;
    longAgain = now() + long * STUBBORN_SHARE;
    return long;
  };

  const run = <Result>(attempt: Attempt, begin: () => Step<Result>): Result | Promise<Result> =>
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
      const attempt: Attempt = { isAttempt: true, task, place: -1, state, parts: 0, over: false };
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
        timer = setTimeout(applyWaiting, patience());
      }
      return changed.promise;
    },
  };
}
