/** Names of the tags of one answer, each once, in the order in which they came. */
export type NameSet = {
  /** Empties the set, for up to so many names. */
  clear(expected: number): void;
  /** Adds a name. False: there are more than expected, or than the set may have. */
  add(name: number): boolean;
  /** The first `size()` of these. */
  readonly names: Float64Array;
  size(): number;
};

/** Creates an empty set for up to `most` names. It has its memory once, for one answer after the other. */
export function createNameSet(most: number): NameSet {
  const names = new Float64Array(most);
  /** Numbers of names, from 1 on. For few names the first ones are enough: they stay in the nearest cache of the processor. */
  const slots = new Uint16Array(slotsFor(most));
  let mask = slots.length - 1;
  let room = most;
  let size = 0;
  return {
    names,
    size: () => size,
    clear(expected) {
      // For so few, `fill` takes longer.
      for (let slot = 0; slot <= mask; slot++) slots[slot] = 0;
      room = Math.min(expected, most);
      mask = slotsFor(room) - 1;
      size = 0;
    },
    add(name) {
      // Names are digests: their last bits are as good as a hash.
      let slot = name & mask;
      for (let number = slots[slot]; number !== 0; number = slots[slot]) {
        if (names[(number as number) - 1] === name) return true;
        slot = (slot + 1) & mask;
      }
      if (size === room) return false;
      names[size++] = name;
      slots[slot] = size;
      return true;
    },
  };
}

/** Twice as many as names at least: a power of two. */
function slotsFor(names: number): number {
  return 2 ** (32 - Math.clz32(2 * names + 1));
}
