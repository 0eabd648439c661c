/** Names of the tags of one answer, each once, in the order in which they came. */
export type NameSet = {
  /** Empties the set. */
  clear(): void;
  /** Adds a name. False: there are more than the set may have. */
  add(name: number): boolean;
  /** The first `size()` of these. */
  readonly names: Float64Array;
  size(): number;
};

/** Creates an empty set for up to `most` names. It has its memory once, for one answer after the other. */
export function createNameSet(most: number): NameSet {
  const slots = 2 ** Math.ceil(Math.log2(2 * most + 2));
  const taken = new Float64Array(slots);
  /** A slot is taken if it was in this round. */
  const rounds = new Uint32Array(slots);
  const names = new Float64Array(most);
  let round = 1;
  let size = 0;
  return {
    names,
    size: () => size,
    clear() {
      size = 0;
      round = (round + 1) >>> 0;
      if (round > 0) return;
      rounds.fill(0);
      round = 1;
    },
    add(name) {
      // Names are digests: their last bits are as good as a hash.
      let slot = name & (slots - 1);
      for (; rounds[slot] === round; slot = (slot + 1) & (slots - 1)) if (taken[slot] === name) return true;
      if (size === most) return false;
      rounds[slot] = round;
      taken[slot] = name;
      names[size++] = name;
      return true;
    },
  };
}
