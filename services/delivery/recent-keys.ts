/** Keys that are told apart: 256 KiB for all of them. */
const SLOTS = 2 ** 16;
/** Longer ones are not worth the time. */
const LONGEST = 4_096;

/**
 * Remembers about the last 65,536 keys without their texts, each in the place that its hash names. Returns whether a key
 * was there already. `seed` tells equal keys apart. By chance, another key may have had the same hash.
 */
export function createRecentKeys(): (key: string, seed: number) => boolean {
  const hashes = new Uint32Array(SLOTS);
  return (key, seed) => {
    const { length } = key;
    if (length > LONGEST) return false;
    // FNV-1a of two characters at a time.
    let hash = 0x811c9dc5 ^ seed ^ length;
    for (let i = 0; i < length; i += 2)
      hash = Math.imul(hash ^ key.charCodeAt(i) ^ (key.charCodeAt(i + 1) << 16), 0x01000193);
    hash = (hash ^ (hash >>> 15)) >>> 0;
    const slot = (hash ^ (hash >>> 16)) & (SLOTS - 1);
    if (hashes[slot] === hash) return true;
    hashes[slot] = hash;
    return false;
  };
}
