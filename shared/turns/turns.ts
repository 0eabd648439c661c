import { RequestError } from '../request-error.ts';
import { QueryTooExpensive } from './query-too-expensive.ts';
import { inSlice, SLICE_OVER } from './slice.ts';

/** The work on one answer: the sum of all its parts, without the time for which it waits. */
export type Task = {
  /** Milliseconds worked so far. */
  spent: number;
  /** Time at which it first waited; 0 if it has not waited yet. */
  since: number;
  /** Milliseconds that it may work. Until it is done, ten times as many may pass, and at least a second. */
  readonly limit: number;
  /** Number of times its state changed, so that it started again. */
  restarts: number;
  /** False after no caller waits for it: no more work is done. */
  readonly isWanted: () => boolean;
  /** True: it is never refused because too many others wait for a turn. */
  readonly isOwed: boolean;
};

/** Conditions of an answer. */
export type AnswerTerms = {
  /** False after no caller waits for the answer: no more work is done. Default: always true. */
  readonly isWanted?: () => boolean;
  /** True: the work answers an operation that is already done, such as a write. It is not refused because many others wait. */
  readonly isOwed?: boolean;
};

/** Does the work, or as much of it as fits into a slice: throws SLICE_OVER then, and is called again. */
export type TurnStep<Result> = () => Result;

/** Order of work on this thread. */
export type Turns = {
  task(limit: number, terms?: AnswerTerms): Task;
  /**
   * Runs work that begins with `begin`. Short work runs at once. Other work runs in slices, with turns of other work in between. The first
   * part may be discarded and run again.
   */
  run<Result>(task: Task, begin: () => TurnStep<Result>): Result | Promise<Result>;
  /** Runs bounded work, or the last part of an answer. Its time counts, but it is not refused for taking too long. */
  finish<Result>(task: Task, begin: () => TurnStep<Result>): Result | Promise<Result>;
  /** Returns whether work waits for a slice. It gets one after the event loop has handled its input. */
  isWaiting(): boolean;
};

export type TurnsOptions = {
  readonly now: () => number;
  /** Calls back after the event loop has handled new input. */
  readonly defer: (turn: () => void) => void;
  readonly sliceMs: number;
  /** Milliseconds for which a piece of work may exceed its slice before it is ended. */
  readonly graceMs: number;
  /** Steps between two reads of the clock. */
  readonly steps: number;
  /** Pieces of work in progress at once: each needs memory. */
  readonly atOnce: number;
  /** If more than this many wait for a turn, new work is refused. */
  readonly waiting: number;
};

const DEFAULTS: TurnsOptions = {
  now: () => performance.now(),
  defer: (turn) => void setImmediate(turn),
  sliceMs: 3,
  graceMs: 3,
  steps: 2_000,
  atOnce: 16,
  waiting: 1_000,
};

/** Waiting work first gets this fraction of a slice, so that light work finishes soon. */
const FIRST_SLICES = 4;

/** Maximum ratio of the time until an answer is done to its limit of work. The time is never limited to less than `LEAST_WALL_MS`. */
const WALL_FACTOR = 10;
const LEAST_WALL_MS = 1_000;

type Work<Result> = {
  readonly task: Task;
  readonly isRefused: boolean;
  readonly begin: () => TurnStep<Result>;
};

type Queued = Work<unknown> & {
  /** undefined: the work has not started, or starts again. */
  step: TurnStep<unknown> | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
};

const NOBODYS: Task = { spent: 0, since: 0, limit: 0, restarts: 0, isWanted: () => false, isOwed: false };
function always() {
  return true;
}

/**
 * Runs work that fits into one slice at once. Other work waits and gets one slice at a time; the event loop handles input between two
 * slices. Work that has had no slice yet comes first, then the work that has had the least time. A few pieces are in progress at once; the
 * others start when one of those is done.
 */
export function createTurns(given: Partial<TurnsOptions> = {}): Turns {
  const options = { ...DEFAULTS, ...given };
  const { now, sliceMs } = options;
  const fresh: Queued[] = [];
  const inProgress: Queued[] = [];
  const postponed: Queued[] = [];
  /** Milliseconds spent in slices since the event loop last handled input. */
  let used = 0;
  let isDeferred = false;
  /** Number of turns in which old work got no slice, because new work was waiting. */
  let delayed = 0;
  const slice = createSlices(options, (worked) => {
    used += worked;
    if (used * 2 >= sliceMs) defer();
  });

  function defer(): void {
    if (isDeferred) return;
    isDeferred = true;
    options.defer(turn);
  }

  /** One turn: a slice for new work, and another slice for old work. */
  function turn(): void {
    isDeferred = false;
    used = 0;
    for (const queue of [inProgress, fresh, postponed]) dropUnwanted(queue, now);
    for (let next = fresh.shift(); next !== undefined; next = used < sliceMs ? fresh.shift() : undefined) {
      if (!isDone(next, sliceMs / FIRST_SLICES)) admit(next);
    }
    delayed = fresh.length === 0 || delayed === FIRST_SLICES ? 0 : delayed + 1;
    if (delayed === 0) continueOne();
    if (isWaiting()) defer();
  }

  function isWaiting(): boolean {
    return fresh.length + inProgress.length + postponed.length > 0;
  }

  /** Gives a slice to work that has had one. */
  function continueOne(): void {
    while (inProgress.length < options.atOnce && postponed.length > 0)
      inProgress.push(postponed.shift() as Queued);
    const next = leastServed(inProgress);
    if (next !== undefined && isDone(next, sliceMs)) inProgress.splice(inProgress.indexOf(next), 1);
  }

  /** Gives a slice to work, and settles its promise if the work finishes. Returns whether it has finished. */
  function isDone(queued: Queued, ms: number): boolean {
    try {
      queued.step ??= queued.begin();
      queued.resolve(slice(queued, ms, queued.step));
      return true;
    } catch (error) {
      if (error === SLICE_OVER) return false;
      queued.reject(error);
      return true;
    }
  }

  /** Takes work that has started and needs more slices. Its state is discarded if too many are in progress. */
  function admit(queued: Queued): void {
    if (inProgress.length < options.atOnce) inProgress.push(queued);
    else {
      queued.step = undefined;
      postponed.push(queued);
    }
  }

  function enqueue<Result>(work: Work<Result>, step?: TurnStep<Result>): Promise<Result> {
    if (!work.task.isOwed && fresh.length + postponed.length >= options.waiting)
      throw busy('too many queries wait');
    if (work.task.since === 0) work.task.since = now();
    return new Promise<unknown>((resolve, reject) => {
      const queued: Queued = { ...work, step, resolve, reject };
      if (step === undefined && work.task.spent < sliceMs) fresh.push(queued);
      else admit(queued);
      defer();
    }) as Promise<Result>;
  }

  function run<Result>(work: Work<Result>): Result | Promise<Result> {
    if (used >= sliceMs || fresh.length > 0) return enqueue(work);
    const step = work.begin();
    try {
      return slice(work, sliceMs - used, step);
    } catch (error) {
      if (error !== SLICE_OVER) throw error;
      return enqueue(work, step);
    }
  }

  return {
    task: (limit, { isWanted = always, isOwed = false } = {}) => ({
      spent: 0,
      since: 0,
      limit,
      restarts: 0,
      isWanted,
      isOwed,
    }),
    run(task, begin) {
      if (task.spent >= task.limit) throw refusal(task);
      return run({ task, isRefused: true, begin });
    },
    finish: (task, begin) => run({ task, isRefused: false, begin }),
    isWaiting,
  };
}

/** Does a step of work for at most `ms`, or throws SLICE_OVER. */
type RunSlice = <Result>(work: Work<Result>, ms: number, step: TurnStep<Result>) => Result;

/** Creates the function that runs slices. It reports the milliseconds of each, and adds them to the work's task. */
function createSlices({ now, steps, graceMs }: TurnsOptions, report: (worked: number) => void): RunSlice {
  /** One object for all slices, because there is only one slice at a time. */
  const current = {
    now,
    steps,
    restsAt: 0,
    haltsAt: 0,
    refusesAt: 0,
    task: NOBODYS,
    refusal: () => refusal(current.task),
  };
  return ({ task, isRefused }, ms, step) => {
    const start = now();
    current.task = task;
    current.restsAt = start + ms;
    current.haltsAt = current.restsAt + graceMs;
    current.refusesAt = isRefused ? start + task.limit - task.spent : Number.POSITIVE_INFINITY;
    try {
      return inSlice(current, step);
    } finally {
      const worked = now() - start;
      task.spent += worked;
      report(worked);
    }
  };
}

/** Order of reads on this thread. */
export const TURNS = createTurns();

/** Handle of an answer in progress. */
export type Answered = { readonly task?: Task };

/** The task of an answer. */
export function taskOf({ task }: Answered): Task {
  return task ?? TURNS.task(Number.POSITIVE_INFINITY);
}

/**
 * Returns the work for the next slice. Restarted work comes first, so that it finishes before the next change. Then comes the work that has
 * had the least time, compared by powers of four.
 */
function leastServed(inProgress: readonly Queued[]): Queued | undefined {
  let best: Queued | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const queued of inProgress) {
    const { spent, restarts } = queued.task;
    const rank = restarts > 0 ? -restarts : Math.floor(Math.log2(Math.max(1, spent)) / 2);
    if (rank >= least) continue;
    least = rank;
    best = queued;
  }
  return best;
}

function dropUnwanted(queue: Queued[], now: () => number): void {
  if (queue.length === 0) return;
  const time = now();
  let kept = 0;
  for (const queued of queue) {
    const { task, reject } = queued;
    if (!task.isWanted()) reject(new RequestError('client-gone', 'No client waits for the answer'));
    else if (time - task.since > Math.max(LEAST_WALL_MS, task.limit * WALL_FACTOR))
      reject(busy('the answer took too long'));
    else queue[kept++] = queued;
  }
  queue.length = kept;
}

/** A restarted query is not responsible for all of its cost. */
function refusal({ limit, restarts }: Task): Error {
  return restarts > 0 ? busy('content changes faster than the query runs') : new QueryTooExpensive(limit);
}

function busy(why: string): RequestError {
  return new RequestError('busy', `The server is busy: ${why}. Ask again later`);
}
