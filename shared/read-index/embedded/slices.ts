/** Lets others work; resolves to false when there is no more to be done. */
export type Pause = () => Promise<boolean>;

/** Work in slices, and what comes between them. */
export type Slices = {
  readonly pause: Pause;
  /** Of work, about: a request that comes meanwhile waits so long at most. */
  readonly sliceMs: number;
};

/** Items between two looks at the clock. */
const ITEMS_AT_ONCE = 64;

/**
 * Calls `work` for consecutive ranges of [0, count), which may grow meanwhile, with pauses in between. False when a pause or
 * `isWanted` said that there is no more to be done.
 */
export async function inSlices(
  count: number | (() => number),
  work: (from: number, to: number) => void,
  { pause, sliceMs }: Slices,
  isWanted: () => boolean = () => true,
): Promise<boolean> {
  const end = typeof count === 'number' ? () => count : count;
  for (let done = 0; done < end() && isWanted(); ) {
    const until = performance.now() + sliceMs;
    do {
      const next = Math.min(done + ITEMS_AT_ONCE, end());
      work(done, next);
      done = next;
    } while (done < end() && isWanted() && performance.now() < until);
    if (!(await pause())) return false;
  }
  return isWanted();
}
