/** A condition variable: lets callers wait until something holds. */
export type Condition = {
  /** To be called when what callers wait for may have come to hold. */
  check(): void;
  /** Resolves with true as soon as `holds()`, with false after `timeoutMs`. Without a timeout it waits for good. */
  until(holds: () => boolean, timeoutMs?: number): Promise<boolean>;
  /** Rejects for everyone who waits, and for whoever would have to wait from now on. */
  fail(error: Error): void;
};

type Waiter = { readonly holds: () => boolean; readonly end: (result: boolean | Error) => void };

/** A caller that stops waiting leaves nothing behind. */
export function createCondition(): Condition {
  const waiters = new Set<Waiter>();
  let failure: Error | undefined;
  return {
    check() {
      for (const { holds, end } of waiters) if (holds()) end(true);
    },
    async until(holds, timeoutMs) {
      if (holds()) return true;
      if (failure !== undefined) throw failure;
      return new Promise((resolve, reject) => {
        const timer = timeoutMs === undefined ? undefined : setTimeout(() => waiter.end(false), timeoutMs);
        const waiter: Waiter = {
          holds,
          end(result) {
            clearTimeout(timer);
            waiters.delete(waiter);
            if (result instanceof Error) reject(result);
            else resolve(result);
          },
        };
        waiters.add(waiter);
      });
    },
    fail(error) {
      failure ??= error;
      for (const { end } of waiters) end(error);
    },
  };
}
