/** Mutual exclusion by key inside one process. This is sufficient, because the leader is the only writer of its namespace. */
export type Locks = {
  /**
   * Resolves to the function that releases the locks, when all keys are locked. It locks keys in sorted order, so that two callers that
   * hold no locks cannot deadlock. Callers wait for a key in the order of their calls.
   */
  acquire(keys: readonly string[]): Promise<() => void>;
  /** Runs work while it holds the locks of all keys. */
  run<Result>(keys: readonly string[], work: () => Promise<Result>): Promise<Result>;
};

/** Creates locks that are all free. They are not reentrant: a holder that acquires its own key again waits forever. */
export function createLocks(): Locks {
  const tails = new Map<string, Promise<void>>();
  const acquireOne = async (key: string): Promise<() => void> => {
    const before = tails.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    tails.set(key, promise);
    if (before !== undefined) await before;
    return () => {
      if (tails.get(key) === promise) tails.delete(key);
      resolve();
    };
  };
  const acquire = async (keys: readonly string[]): Promise<() => void> => {
    const releases: (() => void)[] = [];
    for (const key of [...new Set(keys)].sort()) releases.push(await acquireOne(key));
    return () => {
      for (const release of releases.splice(0)) release();
    };
  };
  return {
    acquire,
    async run(keys, work) {
      const release = await acquire(keys);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
