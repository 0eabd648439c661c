import { assertNever } from '../assert-never.ts';
import type { Append, AppendOutcome } from './commit-appends.ts';
import type { AppendResult } from './event-store.ts';

export type AppendQueue = {
  /** Resolves when the append's commit is on disk. */
  append(append: Append): Promise<AppendResult>;
  /** Commits everything that waits, now. */
  drain(): void;
};

type Waiting = {
  readonly append: Append;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
};

/** Bounds of one commit, and with it of the time for which nothing else runs. */
const MAX_APPENDS = 1_024;
const MAX_CHARACTERS = 8_000_000;

/**
 * Group commit: appends made in one turn of the event loop, which includes all requests that arrived while the last commit
 * was being written, go into one call of `commit`. If that throws, all of them reject with its error.
 */
export const createAppendQueue = (
  commit: (appends: readonly Append[]) => readonly AppendOutcome[],
): AppendQueue => {
  let waiting: Waiting[] = [];
  let scheduled = false;

  const schedule = () => {
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      if (waiting.length > 0) commitNext();
      if (waiting.length > 0) schedule();
    });
  };
  const commitNext = () => {
    const group = waiting.slice(0, groupSize(waiting));
    waiting = waiting.slice(group.length);
    try {
      const outcomes = commit(group.map(({ append }) => append));
      for (const [n, member] of group.entries()) settle(member, outcomes[n] as AppendOutcome);
    } catch (error) {
      for (const member of group) member.reject(error);
    }
  };
  return {
    append: (append) =>
      new Promise((resolve, reject) => {
        waiting.push({ append, resolve, reject });
        if (!scheduled) schedule();
      }),
    drain() {
      while (waiting.length > 0) commitNext();
    },
  };
};

const groupSize = (waiting: readonly Waiting[]): number => {
  let characters = 0;
  for (let n = 0; n < Math.min(waiting.length, MAX_APPENDS); n += 1) {
    for (const event of waiting[n]?.append.events ?? []) characters += event.data.length;
    if (characters > MAX_CHARACTERS) return n + 1;
  }
  return Math.min(waiting.length, MAX_APPENDS);
};

const settle = ({ resolve, reject }: Waiting, outcome: AppendOutcome): void => {
  switch (outcome.kind) {
    case 'appended':
    case 'conflict':
      resolve(outcome);
      break;
    case 'refused':
      reject(new Error(outcome.reason));
      break;
    default:
      assertNever(outcome);
  }
};
