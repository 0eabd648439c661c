/** Runs at most `atOnce` pieces of work at a time; others wait in order. */
export type Bounded = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Limit for waiting work. `refuse` throws in place of the work if `waiting` pieces already wait. */
type WaitingLimit = { readonly waiting: number; readonly refuse: () => never };

/** Creates a queue with bounded concurrency. Without a limit any number of pieces wait. */
export function createBounded(atOnce: number, limit?: WaitingLimit): Bounded {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= atOnce) {
      if (limit !== undefined && waiting.length >= limit.waiting) limit.refuse();
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running++;
    try {
      return await work();
    } finally {
      // The next piece of work starts in place of the finished one.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
