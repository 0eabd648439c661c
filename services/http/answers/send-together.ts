/** Maximum number of answers that wait. With more, clients with few connections would wait longer, and reads would hardly be faster. */
const MOST_WAITING = 8;
/** Longest wait of an answer for others. If the previous answer is older than this, the next one is unlikely to come within this time. */
const LONGEST_WAIT_MS = 1;

/**
 * Creates a function that sends several answers together, at the latest when the event loop has handled its input. A single answer wakes
 * its client, which costs as much as making a small answer. When several answers follow each other, the client is already awake, and the
 * code that sends is in the processor's caches. `isBusy` returns whether slices of other work are waiting: then each answer is sent at
 * once. `clock` returns milliseconds.
 */
export function createSendTogether(
  isBusy: () => boolean,
  clock = () => performance.now(),
): (send: () => void) => void {
  const waiting: (() => void)[] = [];
  let since = 0;
  let last = Number.NEGATIVE_INFINITY;
  let isScheduled = false;
  const sendAll = () => {
    try {
      for (let send = waiting.shift(); send !== undefined; send = waiting.shift()) send();
    } finally {
      // If one answer cannot be sent, the others still are.
      if (waiting.length > 0) sendAll();
    }
  };
  const later = () => {
    isScheduled = false;
    sendAll();
  };
  return (send) => {
    const now = clock();
    const isSoon = now - last <= LONGEST_WAIT_MS;
    last = now;
    if (waiting.length === 0) since = now;
    waiting.push(send);
    if (!isSoon || waiting.length === MOST_WAITING || now - since > LONGEST_WAIT_MS || isBusy()) {
      sendAll();
    } else if (!isScheduled) {
      isScheduled = true;
      setImmediate(later);
    }
  };
}
