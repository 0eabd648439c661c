/** Lets workers sleep until something changes, and misses nothing between looking and sleeping. */
export type WakeUps = {
  /** How often something has changed. */
  count(): number;
  wake(): void;
  /** Resolves once there was another change than so many. */
  after(count: number): Promise<void>;
};

export function createWakeUps(): WakeUps {
  let changes = 0;
  let sleeping: (() => void)[] = [];
  return {
    count: () => changes,
    wake() {
      changes++;
      const woken = sleeping;
      sleeping = [];
      for (const wake of woken) wake();
    },
    after: (count) =>
      changes !== count ? Promise.resolve() : new Promise((resolve) => void sleeping.push(resolve)),
  };
}

const STEP = 200;

/** So many milliseconds; less when it is over. */
export async function pause(milliseconds: number, isOver: () => boolean): Promise<void> {
  const until = performance.now() + milliseconds;
  while (!isOver() && performance.now() < until) {
    const left = Math.min(until - performance.now(), STEP);
    await new Promise<void>((resolve) => void setTimeout(resolve, left).unref());
  }
}
