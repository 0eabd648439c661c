/** Keys that are told apart: 512 KiB for all of them. */
const SLOTS = 2 ** 16;
/** Longer ones are not worth the time. */
const LONGEST = 4_096;

/**
 * Remembers about the last 65,536 keys without their texts, each in the place that its hash names. Returns whether a key
 * is among the last `window` that were asked for. `seed` tells equal keys apart. By chance, another key may have had the
 * same hash.
 */
export function createRecentKeys(): (key: string, seed: number, window: number) => boolean {
  const hashes = new Uint32Array(SLOTS);
  /** Number of the call that came last with the hash; wraps around, as the difference to it does. */
  const calls = new Uint32Array(SLOTS);
  let call = 0;
  return (key, seed, window) => {
    call = (call + 1) >>> 0;
    const { length } = key;
    if (length > LONGEST) return false;
    // FNV-1a of two characters at a time.
    let hash = 0x811c9dc5 ^ seed ^ length;
    for (let i = 0; i < length; i += 2)
      hash = Math.imul(hash ^ key.charCodeAt(i) ^ (key.charCodeAt(i + 1) << 16), 0x01000193);
    hash = (hash ^ (hash >>> 15)) >>> 0;
    const slot = (hash ^ (hash >>> 16)) & (SLOTS - 1);
    const isKnown = hashes[slot] === hash && (call - (calls[slot] as number)) >>> 0 <= window;
    hashes[slot] = hash;
    calls[slot] = call;
    return isKnown;
  };
}
