import type { Lead, Successor } from '../../shared/fleet/lease.ts';
import { valueWithin } from '../../shared/value-within.ts';
import { returnLease } from './claim-lease.ts';
import { countsByLease } from './counts-by-lease.ts';
import { createLeadership, type LeaderLocation } from './leadership.ts';
import { type LeaseTermsOptions, runLeaseTerms } from './lease-terms.ts';
import { LEADER_TIMEOUTS } from './watch-leader.ts';

/** Part of a process in the fleet of its namespace. */
export type Fleet = {
  leader(): LeaderLocation;
  /** Epoch of this process's lease, if it accepts commands under it. */
  epoch(): number | undefined;
  /** The lease under which this process accepts commands, for writing. */
  lead(): Lead | undefined;
  /** Epoch of the newest claim that this process knows of. */
  newestEpoch(): number;
  /** Returns whether events appended at a position under a lease precede any newer claim. Rejects if the log cannot be read. */
  counts(position: bigint, lead: Lead): Promise<boolean>;
  /** Resolves when the leader may be another process, and after `ms` at the latest. */
  changed(ms: number): Promise<void>;
  /**
   * Accepts no more commands, and steps down if this process is the leader. It does not claim the lease again. `successor`: the process
   * that takes the place of this one.
   */
  stepDown(successor?: Successor): Promise<void>;
  /** Rejects when the process cannot continue as one that may lead. */
  readonly done: Promise<void>;
  close(): Promise<void>;
};

export type FleetOptions = LeaseTermsOptions & {
  /** Epoch of the newest claim before a position that the graph has applied. */
  readonly epochAt: (position: bigint) => number;
  /** Position of the graph. */
  readonly position: () => bigint;
  /** Called when this process becomes a standby: at the start, and when it loses the lease. Reads can then be answered. */
  readonly standBy: () => void;
};

/** Claims the lease whenever it is free. The process is a standby otherwise. */
export function joinFleet(options: FleetOptions): Fleet {
  const { claimant, view } = options;
  const leadership = createLeadership(claimant, view, options.standBy);
  const closing = new AbortController();
  const done = runLeaseTerms(options, leadership, closing);
  const ended = done.catch(() => {});
  const close = async () => {
    closing.abort();
    view.wake();
    // A request to a distant leader or to the log may never be answered.
    await valueWithin(LEADER_TIMEOUTS.probeTimeout, ended);
  };
  return {
    leader: leadership.location,
    epoch: leadership.epoch,
    lead: leadership.lead,
    newestEpoch: () => view.current().epoch,
    async counts(position, lead) {
      // The graph knows all claims up to its position. Later claims are only in the log.
      if (options.position() >= position) return options.epochAt(position) === lead.epoch;
      return countsByLease(claimant.log, position, lead);
    },
    changed: view.changed,
    async stepDown(successor) {
      const lease = view.current();
      await close();
      leadership.leave();
      if (!leadership.isOwn(lease)) return;
      await returnLease(claimant, lease, successor).catch((reason) =>
        options.report({ kind: 'unreturned', reason }),
      );
    },
    done,
    close,
  };
}
