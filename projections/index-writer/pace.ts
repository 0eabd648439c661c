/** How fast a lane goes: smaller requests and longer waits after a failure, back to normal as they succeed. */
export type Pace = { readonly bytes: number; readonly wait: number };

const FULL_BYTES = 4 * 2 ** 20;
const LEAST_BYTES = 256 * 2 ** 10;
const FIRST_WAIT = 100;
const LONGEST_WAIT = 10_000;

export const FULL_PACE: Pace = Object.freeze({ bytes: FULL_BYTES, wait: 0 });

export function faster({ bytes }: Pace): Pace {
  return bytes === FULL_BYTES ? FULL_PACE : { bytes: Math.min(FULL_BYTES, Math.ceil(bytes * 1.5)), wait: 0 };
}

/** `random` from 0 to 1 spreads the waits of several lanes. Milliseconds. */
export function slower({ bytes, wait }: Pace, random: number): Pace {
  const doubled = Math.min(LONGEST_WAIT, Math.max(FIRST_WAIT, wait * 2));
  return { bytes: Math.max(LEAST_BYTES, bytes / 2), wait: Math.round(doubled * (0.75 + random / 2)) };
}
