/** A condition variable: callers can wait until something becomes true. */
export type Condition = {
  /** Checks the condition of all waiting callers. Call this whenever one of them may have become true. */
  check(): void;
  /** Resolves to true as soon as `holds()` is true, and to false after `timeoutMs`. Without a timeout it waits forever. */
  until(holds: () => boolean, timeoutMs?: number): Promise<boolean>;
  /** Rejects for all callers that wait now or later. */
  fail(error: Error): void;
};

type Waiter = { readonly holds: () => boolean; readonly end: (result: boolean | Error) => void };

/** Creates a condition. A caller that stops waiting is forgotten. */
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
