/** Lets other work run. Resolves to false if the caller must stop. */
export type Pause = () => Promise<boolean>;

/** Settings of work in slices. */
export type Slices = {
  readonly pause: Pause;
  /** Approximate milliseconds of a slice. A request waits at most this long. */
  readonly sliceMs: number;
};

/** Items between two checks of the clock. */
const ITEMS_AT_ONCE = 64;

/**
 * Calls `work` for each number below `count`, which may grow, with pauses in between. Resolves to false if a pause or `isWanted` ended the
 * work.
 */
export async function inSlices(
  count: number | (() => number),
  work: (at: number) => void,
  { pause, sliceMs }: Slices,
  isWanted: () => boolean = () => true,
): Promise<boolean> {
  const end = typeof count === 'number' ? () => count : count;
  for (let done = 0; done < end() && isWanted(); ) {
    const until = performance.now() + sliceMs;
    do {
      const next = Math.min(done + ITEMS_AT_ONCE, end());
      while (done < next) work(done++);
    } while (done < end() && isWanted() && performance.now() < until);
    if (!(await pause())) return false;
  }
  return isWanted();
}
