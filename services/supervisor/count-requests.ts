export type Counted = { readonly current: number; readonly ttl: number };

/** Number of remembered keys: as many as a single process remembers. */
const KEYS = 5_000;

/** Creates counters of all workers' requests by key, in windows that begin with the first request. Remembers the last 5,000 keys. */
export function createSharedCounts(now: () => number) {
  const windows = new Map<string, { count: number; readonly endsAt: number }>();
  return {
    /** Counts one request. `ttl`: milliseconds until the window of its key ends. */
    add(key: string, windowMs: number): Counted {
      const at = now();
      const known = windows.get(key);
      const window = known !== undefined && known.endsAt > at ? known : { count: 0, endsAt: at + windowMs };
      window.count++;
      windows.delete(key);
      windows.set(key, window);
      const [oldest] = windows.keys();
      if (windows.size > KEYS && oldest !== undefined) windows.delete(oldest);
      return { current: window.count, ttl: window.endsAt - at };
    },
  };
}
