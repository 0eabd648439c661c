/** Mutual exclusion by key inside one process: the leader is the only writer of its namespace. */
export type Locks = {
  /**
   * Resolves with the release when all keys are locked. Locks keys in sorted order, so that two callers without locks
   * cannot deadlock. Callers of a key wait in the order they came.
   */
  acquire(keys: readonly string[]): Promise<() => void>;
  /** Runs work while it has all keys locked. */
  run<Result>(keys: readonly string[], work: () => Promise<Result>): Promise<Result>;
};

/** Creates locks that are all free. They are not reentrant: a holder that acquires its own key again waits for ever. */
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
