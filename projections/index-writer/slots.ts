/** Room for so many requests at once. */
export type Slots = {
  /** Resolves when fewer than `most()` are under way, with what ends this one. */
  take(most: () => number): Promise<() => void>;
};

export function createSlots(): Slots {
  let used = 0;
  let waiting: (() => void)[] = [];
  const end = () => {
    used--;
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  };
  return {
    async take(most) {
      while (used >= most()) await new Promise<void>((resolve) => waiting.push(resolve));
      used++;
      return end;
    },
  };
}
