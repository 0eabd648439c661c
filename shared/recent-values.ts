/** Recently used values, by key. */
export type RecentValues<Key, Value> = {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
};

/**
 * Creates a cache of values with a total size of up to twice `limit` (by `sizeOf`; by default each counts one). It has two halves. When the
 * newer one is full, the older one is dropped, except for values that were requested since. That is much cheaper than a strict order.
 */
export function createRecentValues<Key, Value>(
  limit: number,
  sizeOf: (value: Value) => number = () => 1,
): RecentValues<Key, Value> {
  let newer = new Map<Key, Value>();
  let older = new Map<Key, Value>();
  let size = 0;
  const set = (key: Key, value: Value): void => {
    newer.set(key, value);
    size += sizeOf(value);
    if (size < limit) return;
    older = newer;
    newer = new Map();
    size = 0;
  };
  return {
    get(key) {
      const value = newer.get(key);
      if (value !== undefined) return value;
      const old = older.get(key);
      if (old !== undefined) set(key, old);
      return old;
    },
    set,
  };
}
