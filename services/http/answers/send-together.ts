/** Answers that are sent together. With more of them, clients with few connections would wait, and the gain is hardly larger. */
const MOST_WAITING = 8;
/**
 * Longest time for which an answer waits for others to be made. If the one before it is older, the next one will hardly be there in time,
 * and sending is little of the work.
 */
const LONGEST_WAIT_MS = 1;

/**
 * Creates a function that sends an answer together with the next ones: as soon as some are ready, and at the latest when the event loop
 * has handled its input. Sending one wakes its client, which costs as much as making a small answer. For several answers in a row
 * the client is awake already, and the code that sends is in the processor's caches. `isBusy`: slices of other work come before the next
 * input, and no answer waits for them. `clock` returns milliseconds.
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
      // One that cannot be sent keeps no other from its client.
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
