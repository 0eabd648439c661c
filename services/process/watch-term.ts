import { setTimeout as delay } from 'node:timers/promises';
import { NO_LEASE } from '../../shared/fleet/lease.ts';
import type { Claimant } from '../fleet/claim-lease.ts';
import { readLease } from '../fleet/lease-view.ts';

/** Whether a claim of the lead is still the newest, for a process that does not follow the log yet. */
export type TermWatch = {
  /** Rejects with a sentence when another process has claimed the lead; never resolves. */
  readonly over: Promise<never>;
  close(): void;
};

const LOOK_EVERY_MS = 1_000;
const OVER =
  'another process took over while the read model for the new content types was being built: start this one again';

/** Looks once a second whether a newer epoch was claimed, until it is closed. */
export function createTermWatch({ log, space }: Pick<Claimant, 'log' | 'space'>, epoch: number): TermWatch {
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => {});
  const closing = new AbortController();
  const { signal } = closing;
  const watch = async () => {
    for (let lease = NO_LEASE; !signal.aborted; ) {
      // A log that cannot be read just then says nothing of anyone.
      lease = await readLease(log, space, lease).catch(() => lease);
      // It may have stepped down meanwhile, for the process that has the lease now.
      if (lease.epoch > epoch && !signal.aborted) return over.reject(new Error(OVER));
      await delay(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  void watch();
  return { over: over.promise, close: () => closing.abort() };
}
