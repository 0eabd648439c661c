import { type Backoff, backoffMs, jittered } from '../../shared/backoff.ts';
import type { Lane } from '../graph/stale/stale-rows.ts';

/** Pace of a lane: the size of a request that takes the desired time. Pauses grow with `failures`, the number of failures in a row. */
export type WritePace = { readonly bytes: number; readonly failures: number };

/** Kinds of requests. During edits the backlog is `shared` with them. */
export type PaceKind = Lane | 'shared';

/** Maximum bytes of a request. Limits how long the first of many awaited documents waits for the last, and a new edit for all of them. */
const MOST_BYTES: Readonly<Record<PaceKind, number>> = {
  edits: 2 ** 20,
  copies: 2 ** 20,
  backlog: 2 * 2 ** 20,
  shared: 512 * 2 ** 10,
};
const LEAST_BYTES = 64 * 2 ** 10;
/**
 * Minimum for requests with a refresh. A refresh costs the same for few documents as for many, so smaller requests would only cause more
 * refreshes.
 */
const LEAST_REFRESHED: Readonly<Record<PaceKind, number>> = {
  edits: 512 * 2 ** 10,
  copies: 2 ** 20,
  backlog: 0,
  shared: 0,
};
const BACKOFF: Backoff = { firstMs: 100, longestMs: 10_000 };

/** Desired milliseconds of a request. An edit may have to wait for the requests in flight. */
const AIM: Readonly<Record<PaceKind, number>> = { edits: 300, copies: 300, backlog: 400, shared: 100 };
/** Maximum growth from one request to the next. */
const MOST_GROWTH = 1.5;
const MOST_SHRINKING = 0.5;

export const FULL_WRITE_PACE: WritePace = Object.freeze({ bytes: MOST_BYTES.backlog, failures: 0 });

/** Returns the pace after a request of `sent` bytes that took `took` milliseconds. A small request says too little to raise the pace. */
export function adjustedPace({ bytes }: WritePace, kind: PaceKind, sent: number, took: number): WritePace {
  const change = Math.min(MOST_GROWTH, Math.max(MOST_SHRINKING, AIM[kind] / Math.max(1, took)));
  if (change > 1 && sent < bytes / 2) return { bytes, failures: 0 };
  return {
    bytes: Math.ceil(Math.min(MOST_BYTES.backlog, Math.max(LEAST_BYTES, bytes * change))),
    failures: 0,
  };
}

/** Returns the maximum bytes of one request. */
export function bytesAt({ bytes, failures }: WritePace, kind: PaceKind): number {
  return Math.min(MOST_BYTES[kind], failures > 0 ? bytes : Math.max(LEAST_REFRESHED[kind], bytes));
}

/** Returns the pace after a failure. */
export function slowerPace({ bytes, failures }: WritePace): WritePace {
  return { bytes: Math.max(LEAST_BYTES, Math.ceil(bytes / 2)), failures: failures + 1 };
}

/** Returns the milliseconds until the next request, with a random part so that lanes differ. */
export function waitOf({ failures }: WritePace): number {
  return failures === 0 ? 0 : jittered(backoffMs(failures, BACKOFF));
}
