/** Age of suspect content that is swept. It is longer than any upload, so the process that stored the content has ended. */
const SUSPECTED_MS = 24 * 60 * 60 * 1000;
const PAUSE_MS = 60 * 60 * 1000;

/**
 * Returns a function to call at every upload. From time to time it sweeps in the background. So only the process that records uploads
 * sweeps; without uploads there is nothing to sweep.
 */
export function createSweeper(sweep: (before: number) => Promise<void>): () => void {
  let next = Number.NEGATIVE_INFINITY;
  return () => {
    const now = Date.now();
    if (now < next) return;
    next = now + PAUSE_MS;
    // A failure is retried later.
    void sweep(now - SUSPECTED_MS).catch(() => {});
  };
}
