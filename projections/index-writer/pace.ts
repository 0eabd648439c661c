/** How fast a lane goes: smaller requests where they take long, and longer waits after failures; back to normal as they succeed. */
export type Pace = { readonly bytes: number; readonly wait: number };

const FULL_BYTES = 2 * 2 ** 20;
const SHARED_BYTES = 512 * 2 ** 10;
const LEAST_BYTES = 128 * 2 ** 10;
const FIRST_WAIT = 100;
const LONGEST_WAIT = 10_000;

/** Milliseconds of a request, beyond which the next is smaller. An index that writes one request lets others wait for it. */
const LONG = { alone: 500, shared: 100 };

export const FULL_PACE: Pace = Object.freeze({ bytes: FULL_BYTES, wait: 0 });

/** After a request that took so many milliseconds. `shared`: edits are being made that should not wait for such requests. */
export function paced({ bytes }: Pace, took: number, shared: boolean): Pace {
  const isLong = took > (shared ? LONG.shared : LONG.alone);
  const next = isLong ? Math.max(LEAST_BYTES, bytes / 2) : Math.min(FULL_BYTES, bytes * 1.5);
  return { bytes: Math.ceil(next), wait: 0 };
}

/** What one request may carry. */
export function bytesAt({ bytes }: Pace, shared: boolean): number {
  return shared ? Math.min(SHARED_BYTES, bytes) : bytes;
}

/** After a failure. `random` from 0 to 1 spreads the waits of several lanes. Milliseconds. */
export function slower({ bytes, wait }: Pace, random: number): Pace {
  const doubled = Math.min(LONGEST_WAIT, Math.max(FIRST_WAIT, wait * 2));
  return {
    bytes: Math.max(LEAST_BYTES, Math.ceil(bytes / 2)),
    wait: Math.round(doubled * (0.75 + random / 2)),
  };
}
