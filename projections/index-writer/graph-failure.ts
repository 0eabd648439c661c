/** Failure to read or write the graph. A retry does not help. */
export class GraphFailure extends Error {}

/** Runs work on the graph. Throws GraphFailure with the error as its cause. */
export function onGraph<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new GraphFailure('the content graph failed', { cause: error });
  }
}
