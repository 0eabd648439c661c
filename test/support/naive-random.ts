/** A seeded source of random choices: the same seed makes the same choices. */
export type Random = {
  readonly next: () => number;
  readonly chance: (probability: number) => boolean;
  /** Returns an integer between the bounds, both included. */
  readonly between: (least: number, most: number) => number;
  readonly pick: <T>(items: readonly T[]) => T;
  readonly sample: <T>(items: readonly T[], count: number) => readonly T[];
};

/** Creates the pseudo-random generator SplitMix32. */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  const pick = <T>(items: readonly T[]): T => {
    if (items.length === 0) throw new Error('nothing to pick from');
    return items[between(0, items.length - 1)] as T;
  };
  const sample = <T>(items: readonly T[], count: number): readonly T[] => {
    const chosen = new Set<T>();
    for (let i = 0; i < count; i++) chosen.add(pick(items));
    return [...chosen];
  };
  return { next, chance: (probability) => next() < probability, between, pick, sample };
}
