/** Longer than any upload takes: content that was suspected before belongs to a process that is gone. */
const SUSPECTED_MS = 24 * 60 * 60 * 1000;
const PAUSE_MS = 60 * 60 * 1000;

/**
 * A function to call with every upload: now and then it sweeps, in the background. So the process that records uploads does it,
 * and no other; where there are no uploads nothing is left by them.
 */
export function createSweeper(sweep: (before: number) => Promise<void>): () => void {
  let next = Number.NEGATIVE_INFINITY;
  return () => {
    const now = Date.now();
    if (now < next) return;
    next = now + PAUSE_MS;
    // What fails here is tried again.
    void sweep(now - SUSPECTED_MS).catch(() => {});
  };
}
