import { retry } from '../../shared/retry.ts';
import { untilAborted } from '../../shared/until-aborted.ts';
import type { Fleet } from '../fleet/fleet.ts';

/** Work of one term of the leader. */
export type OutboxTerm = {
  /** Looks at changed receivers. */
  readonly look?: () => void;
  /** Rejects when the term cannot continue. Another one begins after a pause. Absent: it can always continue. */
  readonly done?: Promise<unknown>;
  /** `isLeading`: this process is still the leader of the term. */
  close(isLeading: boolean): Promise<void>;
};

export type OutboxOptions<Term extends OutboxTerm> = {
  readonly fleet: Pick<Fleet, 'epoch' | 'changed'>;
  /** Returns whether a leader has anything to send. Absent: always. */
  readonly hasWork?: () => boolean;
  /** Begins a term with the epoch of the lease. `signal` is aborted when the process ends. */
  readonly begin: (epoch: number, signal: AbortSignal) => Promise<Term>;
  readonly failed: (error: unknown) => void;
};

/** Maximum time until a lost lease is noticed. */
const LOOK_MS = 1_000;
/** Pauses before a term that failed begins again. */
const BACKOFF = { firstMs: 1_000, longestMs: 30_000 };

/** Runs one term of an outbox after the other, while this process is the leader and has something to send. */
export function leadOutbox<Term extends OutboxTerm>(options: OutboxOptions<Term>) {
  const { fleet, hasWork = () => true, begin, failed } = options;
  const closing = new AbortController();
  const { signal } = closing;
  let resting = new AbortController();
  const epoch = () => (signal.aborted || !hasWork() ? undefined : fleet.epoch());
  let term: Term | undefined;
  const wake = () => {
    resting.abort();
    term?.look?.();
  };
  const rest = async (): Promise<void> => {
    resting = new AbortController();
    await untilAborted(fleet.changed(LOOK_MS), resting.signal);
  };
  const lead = async (led: number): Promise<void> => {
    const begun = await begin(led, signal);
    term = begun;
    let isOver = false;
    const over = begun.done?.finally(() => {
      isOver = true;
      resting.abort();
    });
    over?.catch(() => {});
    try {
      while (epoch() === led && !isOver) await rest();
      if (isOver) await over;
    } finally {
      term = undefined;
      await begun.close(fleet.epoch() === led);
    }
  };
  const turn = async (): Promise<void> => {
    const led = epoch();
    await (led === undefined ? rest() : lead(led));
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) await retry(turn, { backoff: BACKOFF, isJittered: true, signal, failed });
  };
  // Never rejects: failures are reported and repeated.
  const running = run();
  return {
    /** Returns the current term; undefined if another process sends, or there is nothing to send. */
    term: () => term,
    /** Receivers have changed. */
    wake,
    /** Ends the term. Nothing is sent after that. */
    async stop(): Promise<void> {
      closing.abort();
      resting.abort();
      await running;
    },
  };
}
