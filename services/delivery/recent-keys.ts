/** Number of keys that can be distinguished. All slots together take 512 KiB. */
const SLOTS = 2 ** 16;

/**
 * Creates a memory of about the last 65,536 keys, without their texts. Its function remembers a hash, and returns whether a key with this
 * hash was among the last `window` different keys. Two keys may have the same hash by chance.
 */
export function createRecentKeys(): (hash: number, window: number) => boolean {
  const hashes = new Int32Array(SLOTS);
  /** Number of keys at the time when the hash of a slot came last. It wraps around, and so do differences. */
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
