/** Lets callers wait until something has come as far as a position of the log. */
export type PositionGate = {
  /** Says that `position` may have moved on. */
  advanced(): void;
  /** True as soon as the position is reached, false when `timeoutMs` is over; without one it waits for good. */
  reached(position: bigint, timeoutMs?: number): Promise<boolean>;
};

type Waiter = { readonly position: bigint; readonly pass: () => void };

/** `position`: how far it has come by now. Who gives up waiting leaves nothing behind, whatever position was asked for. */
export function createPositionGate(position: () => bigint): PositionGate {
  const waiters = new Set<Waiter>();
  return {
    advanced() {
      if (waiters.size === 0) return;
      const at = position();
      for (const waiter of waiters) if (waiter.position <= at) waiter.pass();
    },
    reached(wanted, timeoutMs) {
      if (wanted <= position()) return Promise.resolve(true);
      return new Promise((resolve) => {
        const waiter = { position: wanted, pass: () => end(true) };
        const timer = timeoutMs === undefined ? undefined : setTimeout(() => end(false), timeoutMs);
        waiters.add(waiter);

        function end(isReached: boolean): void {
          clearTimeout(timer);
          waiters.delete(waiter);
          resolve(isReached);
        }
      });
    },
  };
}
