import type { ReadSide } from './read-side.ts';

/**
 * Creates the switch of a read side between the roles of leader and standby. `isNext`: accepts commands only when reads show them, because
 * another process serves until then.
 */
export function leadReadSide(readSide: Pick<ReadSide, 'lead' | 'standBy'>, isNext: boolean) {
  const readable = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  done.promise.catch(() => {});
  let changes = 0;
  const change = (changed: Promise<boolean>): void => {
    const mine = ++changes;
    changed.then((isReadable) => isReadable && mine === changes && readable.resolve(), done.reject);
  };
  return {
    /** Called when the process becomes the leader. Resolves when commands may be accepted. */
    async lead(epoch: number): Promise<void> {
      const leading = readSide.lead(epoch);
      change(leading);
      if (isNext) await leading;
    },
    /** Called when the process loses the lease. */
    standBy: () => change(readSide.standBy()),
    /** Resolves when reads can be answered for the first time. */
    readable: readable.promise,
    /** Rejects with a message when the index refuses permanently. Resolves on close. */
    done: done.promise,
    close: done.resolve,
  };
}
