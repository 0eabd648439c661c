import type { ReadSide } from './read-side.ts';

/**
 * Creates the switch of a read side between the roles of leader and standby. `isNext`: another process serves at first. Until reads have
 * shown the first term of this process, it accepts commands only when reads show them.
 */
export function leadReadSide(readSide: Pick<ReadSide, 'lead' | 'standBy'>, isNext: boolean) {
  const readable = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  done.promise.catch(() => {});
  let changes = 0;
  let isWaiting = isNext;
  const change = (changed: Promise<boolean>): void => {
    const mine = ++changes;
    changed.then(
      (isReadable) => isReadable && mine === changes && readable.resolve(),
      (error) => mine === changes && done.reject(error),
    );
  };
  return {
    /** Called when the process becomes the leader. Resolves when commands may be accepted. Rejects if no read can show them. */
    async lead(epoch: number): Promise<void> {
      const leading = readSide.lead(epoch);
      if (!isWaiting) return change(leading);
      // The caller learns of the failure: another process may be the leader.
      change(leading.catch(() => false));
      isWaiting = !(await leading);
    },
    /** Called when the process loses the lease. */
    standBy: () => change(readSide.standBy()),
    /** Resolves when reads can be answered for the first time. */
    readable: readable.promise,
    /** Rejects with a message when the index refuses permanently, unless `lead` has rejected with it. Resolves on close. */
    done: done.promise,
    close: done.resolve,
  };
}
