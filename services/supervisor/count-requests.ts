export type Counted = { readonly current: number; readonly ttl: number };

/** The keys counted last: as many as one process counts by itself. */
const KEYS = 5_000;

/** Creates counts of requests of all workers by key, in windows that begin with the first request. It remembers the 5,000 last keys. */
export function createSharedCounts(now: () => number) {
  const windows = new Map<string, { count: number; readonly endsAt: number }>();
  return {
    /** Counts one more. `ttl`: milliseconds until the window of this key ends. */
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
