import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Append } from '../event-codec.ts';
import type { AppendResult } from '../event-store.ts';
import type { AppendOutcome } from './commit-appends.ts';

type Waiting = {
  readonly append: Append;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
};

/** Limits of one commit, which also limit the time for which the next one waits. */
const MAX_APPENDS = 1_024;
const MAX_CHARACTERS = 8_000_000;

/**
 * Groups appends into commits. Appends made in one turn of the event loop, or during the previous commit, share one call of `commit`. Only
 * one call runs at a time. If it rejects, all its appends reject with its error.
 */
export function createAppendQueue(commit: (appends: readonly Append[]) => Promise<readonly AppendOutcome[]>) {
  let waiting: Waiting[] = [];
  let committing: Promise<void> | undefined;

  const commitAll = async () => {
    while (waiting.length > 0) {
      await nextTurn();
      await commitNext();
    }
    committing = undefined;
  };
  const commitNext = async () => {
    const group = waiting.slice(0, groupSize(waiting));
    waiting = waiting.slice(group.length);
    try {
      const outcomes = await commit(group.map(({ append }) => append));
      for (const [n, member] of group.entries()) settle(member, outcomes[n] as AppendOutcome);
    } catch (error) {
      for (const member of group) member.reject(error);
    }
  };
  return {
    /** Resolves when the append's commit is on disk. */
    append: (append: Append) =>
      new Promise<AppendResult>((resolve, reject) => {
        waiting.push({ append, resolve, reject });
        // Never rejects: the appends of a failed commit do.
        committing ??= commitAll();
      }),
    /** Resolves when all waiting appends are committed. */
    drain: async () => committing,
  };
}

function groupSize(waiting: readonly Waiting[]): number {
  let characters = 0;
  for (let n = 0; n < Math.min(waiting.length, MAX_APPENDS); n += 1) {
    for (const event of waiting[n]?.append.events ?? []) characters += event.data.length;
    if (characters > MAX_CHARACTERS) return n + 1;
  }
  return Math.min(waiting.length, MAX_APPENDS);
}

function settle({ resolve, reject }: Waiting, outcome: AppendOutcome): void {
  if (outcome.kind === 'refused') reject(new Error(outcome.reason));
  else resolve(outcome);
}
