import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Append } from '../event-codec.ts';
import type { AppendResult } from '../event-store.ts';
import type { AppendOutcome } from './commit-appends.ts';

type Waiting = {
  readonly appends: readonly Append[];
  /** True: a commit has only these, and stores all of them or none. */
  readonly isWhole: boolean;
  readonly resolve: (results: readonly AppendResult[]) => void;
  readonly reject: (error: unknown) => void;
};

/** Limits of one commit, which also limit the time for which the next one waits. */
const MAX_APPENDS = 1_024;
const MAX_CHARACTERS = 8_000_000;

/**
 * Groups appends into commits. Appends made in one turn of the event loop, or during the previous commit, share one call of `commit`. Only
 * one call runs at a time. If it rejects, all its appends reject with its error.
 */
export function createAppendQueue(
  commit: (appends: readonly Append[], isWhole: boolean) => Promise<readonly AppendOutcome[]>,
) {
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
      const outcomes = [
        ...(await commit(
          group.flatMap(({ appends }) => appends),
          group[0]?.isWhole === true,
        )),
      ];
      for (const member of group) settle(member, outcomes.splice(0, member.appends.length));
    } catch (error) {
      for (const member of group) member.reject(error);
    }
  };
  const add = (appends: readonly Append[], isWhole: boolean) =>
    new Promise<readonly AppendResult[]>((resolve, reject) => {
      waiting.push({ appends, isWhole, resolve, reject });
      // Never rejects: the appends of a failed commit do.
      committing ??= commitAll();
    });
  return {
    /** Resolves when the append's commit is on disk. */
    append: async (append: Append) => (await add([append], false))[0] as AppendResult,
    /** Resolves when a commit of all these appends, or of none, is on disk. */
    appendTogether: (appends: readonly Append[]) => add(appends, true),
    /** Resolves when all waiting appends are committed. */
    drain: async () => committing,
  };
}

function groupSize(waiting: readonly Waiting[]): number {
  let characters = 0;
  for (let n = 0; n < Math.min(waiting.length, MAX_APPENDS); n += 1) {
    if (waiting[n]?.isWhole === true) return Math.max(n, 1);
    for (const { events } of waiting[n]?.appends ?? [])
      for (const event of events) characters += event.data.length;
    if (characters > MAX_CHARACTERS) return n + 1;
  }
  return Math.min(waiting.length, MAX_APPENDS);
}

function settle({ resolve, reject }: Waiting, outcomes: readonly AppendOutcome[]): void {
  const refused = outcomes.find(({ kind }) => kind === 'refused');
  if (refused?.kind === 'refused') reject(new Error(refused.reason));
  else resolve(outcomes as readonly AppendResult[]);
}
