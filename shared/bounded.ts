/** Limit for waiting work. `refuse` throws in place of the work if `waiting` pieces already wait. */
type WaitingLimit = { readonly waiting: number; readonly refuse: () => never };

/** Creates a queue that runs at most `atOnce` pieces of work at a time. Others wait in order, any number of them without a limit. */
export function createBounded(atOnce: number, limit?: WaitingLimit) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
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
