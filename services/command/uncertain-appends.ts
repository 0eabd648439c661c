import { AppendTooLarge, type EventStore, StreamDeleted } from '../../shared/event-store/event-store.ts';
import { remembered } from '../../shared/remembered.ts';
import { RequestError } from '../../shared/request-error.ts';
import { isDiskFull } from '../../shared/sqlite/failures.ts';
import type { CommandEnvironment } from './environment.ts';

/** Appends of a write side, with those that failed although the log may have stored them. */
export type UncertainAppends = {
  /** Appends like the event store. */
  readonly append: EventStore['append'];
  readonly appendTogether: EventStore['appendTogether'];
  /**
   * Resolves when the graph shows every such append that is in the log: before that nobody knows whether a unique value is free. Rejects
   * with a RequestError if the log cannot be read.
   */
  settle(): Promise<void>;
};

/** Returns the appends of a write side. Everything that writes for it shares them. */
export const uncertainAppends = remembered(
  ({ eventStore, applied }: CommandEnvironment): UncertainAppends => {
    let failed = 0;
    let settled = 0;
    const counted = async <Result>(appending: Promise<Result>): Promise<Result> => {
      try {
        return await appending;
      } catch (error) {
        if (mayBeStored(error)) failed++;
        throw error;
      }
    };
    return {
      append: (...append) => counted(eventStore.append(...append)),
      appendTogether: (...appends) => counted(eventStore.appendTogether(...appends)),
      async settle() {
        if (settled === failed) return;
        const known = failed;
        await applied(await eventStore.lastPosition().catch(refuseUnread));
        settled = Math.max(settled, known);
      },
    };
  },
);

function mayBeStored(error: unknown): boolean {
  return !(error instanceof AppendTooLarge || error instanceof StreamDeleted || isDiskFull(error));
}

function refuseUnread(cause: unknown): never {
  throw new RequestError('log-unavailable', 'The event log cannot be read now', {}, { cause });
}
