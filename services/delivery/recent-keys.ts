/** Number of keys that can be distinguished: 512 KiB for all of them. */
const SLOTS = 2 ** 16;

/**
 * Remembers about the last 65,536 keys without their texts, each in the place that its hash names. Returns whether the key with a hash is
 * among the last `window` different ones. By chance, another key may have had the same hash.
 */
export function createRecentKeys(): (hash: number, window: number) => boolean {
  const hashes = new Int32Array(SLOTS);
  /** Number of keys when the hash came last; wraps around, as the difference to it does. */
  const seen = new Uint32Array(SLOTS);
  let keys = 0;
  return (hash, window) => {
    const slot = (hash ^ (hash >>> 16)) & (SLOTS - 1);
    const isKnown = hashes[slot] === hash && (keys - (seen[slot] as number)) >>> 0 < window;
    if (!isKnown) keys = (keys + 1) >>> 0;
    hashes[slot] = hash;
    seen[slot] = keys;
    return isKnown;
  };
}
