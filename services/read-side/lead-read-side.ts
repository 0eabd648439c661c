import type { ReadSide } from './read-side.ts';

/** A read side that is notified when its process becomes the leader or loses the lease. */
export type LedReadSide = {
  /** Resolves when commands may be accepted. */
  readonly lead: (epoch: number) => Promise<void>;
  readonly standBy: () => void;
  /** Resolves when reads can be answered for the first time. */
  readonly readable: Promise<void>;
  /** Rejects with a message when the index refuses permanently. Resolves on close. */
  readonly done: Promise<void>;
  close(): void;
};

/**
 * Switches a read side between the roles of leader and standby. `isNext`: accepts commands only when reads show them, because another
 * process serves until then.
 */
export function leadReadSide(readSide: Pick<ReadSide, 'lead' | 'standBy'>, isNext: boolean): LedReadSide {
  const readable = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  done.promise.catch(() => {});
  let changes = 0;
  const change = (changed: Promise<boolean>): void => {
    const mine = ++changes;
    changed.then((isReadable) => isReadable && mine === changes && readable.resolve(), done.reject);
  };
  return {
    async lead(epoch) {
      const leading = readSide.lead(epoch);
      change(leading);
      if (isNext) await leading;
    },
    standBy: () => change(readSide.standBy()),
    readable: readable.promise,
    done: done.promise,
    close: done.resolve,
  };
}
