/** Runs at most `atOnce` pieces of work at a time; others wait in order. */
export type Bounded = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** `refuse` throws in place of the work while `mostWaiting` pieces wait already. */
export function createBounded(atOnce: number, mostWaiting: number, refuse: () => never): Bounded {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= atOnce) {
      if (waiting.length >= mostWaiting) refuse();
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running++;
    try {
      return await work();
    } finally {
      // Whoever is next takes this place.
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
