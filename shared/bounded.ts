/** Limit for waiting work. Beyond it, a piece of work is rejected with the error that `refused` returns. */
type WaitingLimit = { readonly waiting: number; readonly refused: () => Error };

type Waiting = { readonly start: () => void; readonly refuse: (error: Error) => void };

/**
 * Creates a queue that runs at most `atOnce` pieces of work at a time. Callers take turns: each has a queue of its own, and one with much
 * work does not delay the others. Any number of pieces may wait without a limit. Beyond it the longest queue loses its last piece.
 */
export function createBounded(atOnce: number, limit?: WaitingLimit) {
  const queues = new Map<string, Waiting[]>();
  let waiting = 0;
  let running = 0;
  const wait = (caller: string) =>
    new Promise<void>((start, refuse) => {
      const queue = queues.get(caller) ?? [];
      queues.set(caller, queue);
      queue.push({ start, refuse });
      waiting++;
      if (limit === undefined || waiting <= limit.waiting) return;
      const [longest, last] = longestOf(queues);
      if (last.length === 1) queues.delete(longest);
      waiting--;
      last.pop()?.refuse(limit.refused());
    });
  const startNext = () => {
    const [caller, queue] = queues.entries().next().value ?? [];
    if (caller === undefined || queue === undefined) {
      running--;
      return;
    }
    // The caller goes to the end of the turn.
    queues.delete(caller);
    if (queue.length > 1) queues.set(caller, queue);
    waiting--;
    queue.shift()?.start();
  };
  return async <Result>(work: () => Promise<Result>, caller = ''): Promise<Result> => {
    if (running >= atOnce) await wait(caller);
    else running++;
    try {
      return await work();
    } finally {
      // The next piece of work starts in place of the finished one.
      startNext();
    }
  };
}

function longestOf(queues: ReadonlyMap<string, Waiting[]>): [string, Waiting[]] {
  let longest: [string, Waiting[]] = ['', []];
  for (const entry of queues) if (entry[1].length >= longest[1].length) longest = entry;
  return longest;
}
